// Runs one opsctl command line in a fake world.
import { runCommand } from "../../cli/kit/run.ts";
import { buildProgram } from "../../cli/opsctl/program.ts";
import { type FakeOptions, type FakeWorld, fakeWorld, LOGGED_IN } from "./fake-world.ts";

export type Ran = FakeWorld & { readonly code: number };

export async function opsctl(words: readonly string[], options: FakeOptions = {}): Promise<Ran> {
  const fake = fakeWorld({ env: LOGGED_IN, ...options });
  const code = await runCommand(await buildProgram(words), words, fake.world);
  return { ...fake, code };
}
