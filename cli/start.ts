// Starts a program with verbs, such as opsctl or tenantctl. Prints the front page without the parser, and loads the
// parser only for other commands.
import process from "node:process";
import { type Front, frontText } from "./front-page.ts";
import { EXIT, type ExitCode } from "./internal/exit-code.ts";
import { type Environment, processEnvironment, watchSignals } from "./internal/environment.ts";

export type Program = {
  readonly front: Front;
  /** Loads the parser and runs the verb. */
  run(argv: readonly string[], environment: Environment): Promise<ExitCode>;
};

export async function start(program: Program): Promise<void> {
  const watch = watchSignals(["SIGINT"]);
  const code = await answer(program, process.argv.slice(2), processEnvironment(watch.signal));
  // Sets the exit code and does not call process.exit, which would truncate pending output.
  process.exitCode = watch.caught() === null ? code : EXIT.interrupted;
}

export async function answer(
  { front, run }: Program,
  argv: readonly string[],
  environment: Environment,
): Promise<ExitCode> {
  const text = frontText(front, argv, () => environment.stdout.columns);
  if (text === null) return await run(argv, environment);
  try {
    environment.stdout.write(text);
    return EXIT.ok;
  } catch (error) {
    const { fileProblem } = await import("./internal/file-problem.ts");
    environment.stderr.write(`error: ${fileProblem(error) ?? (error as Error).message}\n`);
    return EXIT.failure;
  }
}
