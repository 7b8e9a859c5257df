// Runs one opsctl command line in a fake environment.
import { runOpsctl } from "../../cli/opsctl/program.ts";
import { type FakeEnvironment, fakeEnvironment, type FakeOptions, LOGGED_IN } from "./fake-environment.ts";

export type Ran = FakeEnvironment & { readonly code: number };

export async function opsctl(argv: readonly string[], options: FakeOptions = {}): Promise<Ran> {
  const fake = fakeEnvironment({ env: LOGGED_IN, ...options });
  const code = await runOpsctl(argv, fake.environment);
  return { ...fake, code };
}
