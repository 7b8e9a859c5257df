// Runs one command line in a world and answers with the exit code. Nothing here ends the process.
import { VERSION } from "../version.ts";
import { type AnyCommand, parse, rootOf } from "../framework.ts";
import type { Globals } from "./connection.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { Failure, failureText, usageFailure } from "./failure.ts";
import type { Io } from "./io.ts";
import type { Environment } from "./environment.ts";

const worlds = new WeakMap<AnyCommand, Environment>();

export function environmentOf(member: AnyCommand): Environment {
  const environment = worlds.get(rootOf(member));
  if (environment === undefined) throw new Error("a command ran outside runCommand");
  return environment;
}

/** An action that starts with an Io. The rest is what the parser gives: arguments, options, the command. */
export function withIo<R extends unknown[]>(body: (io: Io, ...rest: R) => Promise<void>) {
  return async (...rest: R): Promise<void> => {
    const member = rest.at(-1) as AnyCommand;
    const flags = member.optsWithGlobals() as Globals;
    const { openIo } = await import("./io.ts");
    await body(openIo(environmentOf(member), flags, `${rootOf(member).name()}/${VERSION}`), ...rest);
  };
}

export async function runCommand(
  root: AnyCommand,
  argv: readonly string[],
  environment: Environment,
): Promise<ExitCode> {
  worlds.set(root, environment);
  try {
    const outcome = await parse(root, argv, {
      out: environment.stdout.write,
      err: environment.stderr.write,
      columns: () => environment.stdout.columns,
    });
    if (outcome.kind === "done") return EXIT.ok;
    if (outcome.message === null) return EXIT.usage;
    throw usageFailure(outcome.message);
  } catch (error) {
    const failure = error instanceof Failure ? error : new Failure(wordsOf(error), EXIT.failure);
    if (failure.exit_code !== EXIT.interrupted) environment.stderr.write(`${failureText(failure, wantsJson(argv))}\n`);
    return failure.exit_code;
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Read from the words, since a usage error leaves no parsed options. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return (end < 0 ? argv : argv.slice(0, end)).includes("--json");
}
