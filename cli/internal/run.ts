// Runs one command line in an environment and returns the exit code. Does not end the process.
import { VERSION } from "../version.ts";
import { type AnyCommand, parse, rootOf } from "../framework.ts";
import type { Globals } from "./connection.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { fileProblem } from "./file-problem.ts";
import { Ended, Failure, failureText, usageFailure } from "./failure.ts";
import type { Io } from "./io.ts";
import type { Environment } from "./environment.ts";
import { withProtectionHint } from "./protection.ts";
import { type OutputFlags, wantsData } from "./output/format.ts";

const environments = new WeakMap<AnyCommand, Environment>();

export function environmentOf(member: AnyCommand): Environment {
  const environment = environments.get(rootOf(member));
  if (environment === undefined) throw new Error("a command ran outside runCommand");
  return environment;
}

/**
 * Returns the action of a verb. The action opens an Io, and passes the Io and the parser's arguments, options and
 * command to `body`.
 */
export function withIo<R extends unknown[]>(body: (io: Io, ...rest: R) => Promise<void>) {
  return async (...rest: R): Promise<void> => {
    const member = rest.at(-1) as AnyCommand;
    const flags = member.optsWithGlobals() as Globals;
    const { openIo } = await import("./io.ts");
    const open = (environment: Environment) => openIo(environment, flags, `${rootOf(member).name()}/${VERSION}`);
    const hinted = async (io: Io) => {
      try {
        await body(io, ...rest);
      } catch (error) {
        const explained = error instanceof Failure ? withProtectionHint(error) : error;
        const hinted = await (await import("./tenant-hint.ts")).withTenantHint(io, explained);
        throw (await import("./uncertain-hint.ts")).withUncertainHint(member, hinted);
      }
    };
    await runBody(environmentOf(member), open, { flags, body: hinted });
  };
}

type Body<I extends Io> = { readonly flags: OutputFlags; readonly body: (io: I) => Promise<void> };

/** Runs the body of a verb once, or with --watch until Ctrl-C. */
export async function runBody<I extends Io>(
  environment: Environment,
  open: (environment: Environment) => I,
  { flags, body }: Body<I>,
): Promise<void> {
  if (flags.watch !== true) return await body(open(environment));
  await (await import("./watch.ts")).watch(environment, open, body);
}

export async function runCommand(
  root: AnyCommand,
  argv: readonly string[],
  environment: Environment,
): Promise<ExitCode> {
  environments.set(root, environment);
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
    const failure = error instanceof Failure ? error : new Failure(messageOf(error), EXIT.failure);
    const isPrinted = failure instanceof Ended || failure.exit_code === EXIT.interrupted;
    if (!isPrinted) environment.stderr.write(`${failureText(failure, wantsData(argv))}\n`);
    return failure.exit_code;
  }
}

function messageOf(error: unknown): string {
  return fileProblem(error) ?? (error instanceof Error ? error.message : String(error));
}
