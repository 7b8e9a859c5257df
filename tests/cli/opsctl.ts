// Runs one opsctl command line in a fake environment.
import { runCommand } from "../../cli/internal/run.ts";
import { buildProgram } from "../../cli/opsctl/program.ts";
import { type FakeEnvironment, fakeEnvironment, type FakeOptions, LOGGED_IN } from "./fake-environment.ts";

export type Ran = FakeEnvironment & { readonly code: number };

export async function opsctl(argv: readonly string[], options: FakeOptions = {}): Promise<Ran> {
  const fake = fakeEnvironment({ env: LOGGED_IN, ...options });
  const code = await runCommand(await buildProgram(argv), argv, fake.environment);
  return { ...fake, code };
}
