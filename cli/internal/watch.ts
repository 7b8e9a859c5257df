// Runs a verb again and again until Ctrl-C: after each change that the server reports, and also when a poll ends
// without a change. On a terminal each output replaces the previous output. In a pipe an output is printed only if it
// differs from the previous output.
import type { Changes } from "../../src/contract/changes.ts";
import { CHANGES_WAIT_S_MAX } from "../../src/contract/limits.ts";
import { pause } from "./api.ts";
import type { Environment, Sink } from "./environment.ts";
import { EXIT } from "./exit-code.ts";
import { Ended, Failure } from "./failure.ts";
import type { Io } from "./io.ts";

/** Pause after an output, so that many changes in a short time cause only one more output. */
const REST_MS = 500;
/** Pause before the next attempt while the server does not answer. */
const RETRY_MS = 5_000;
/** Time for the answer beyond the wait itself. */
const ANSWER_SLACK_MS = 15_000;
/** Moves the cursor to the first line and erases the screen below it. */
const CLEAR = "\u001b[H\u001b[J";

/**
 * Runs `body` until it throws an error other than "unreachable". After Ctrl-C, throws a Failure with exit code 130; if
 * the reader of the output has ended, throws an Ended with exit code 0.
 */
export async function watch<I extends Io>(
  environment: Environment,
  open: (environment: Environment) => I,
  body: (io: I) => Promise<void>,
): Promise<never> {
  const { stdout } = environment;
  const calls = open(environment);
  let after: string | undefined;
  let shown: string | null = null;
  const notes = eachOnce(environment.stderr);
  for (;;) {
    try {
      // The cursor is read before `body` runs, so a change that `body` does not see yet causes another output.
      after ??= (await calls.get<Changes>("/v1/changes")).cursor;
      const text = await outputOf({ ...environment, stderr: notes }, open, body);
      // Ages change without a change of a record, so a terminal shows every output.
      if (stdout.isTTY) stdout.write(`${CLEAR}${text}`);
      else if (text !== shown) stdout.write(text);
      // The reader of the pipe has ended, as in `--watch | head`.
      if (stdout.isClosed) throw new Ended(EXIT.ok);
      shown = text;
      await pause(environment, REST_MS);
      const changes = await calls.send<Changes>({
        method: "GET",
        path: "/v1/changes",
        query: { after, wait: CHANGES_WAIT_S_MAX },
        limit_ms: CHANGES_WAIT_S_MAX * 1_000 + ANSWER_SLACK_MS,
      });
      after = changes.cursor;
    } catch (error) {
      if (!(error instanceof Failure) || error.exit_code !== EXIT.unreachable) throw error;
      calls.note(`${error.message}; trying again`);
      await pause(environment, RETRY_MS);
    }
  }
}

/** Returns the output of `body`. On a terminal it includes the notes, because the next output would erase them. */
async function outputOf<I extends Io>(
  environment: Environment,
  open: (environment: Environment) => I,
  body: (io: I) => Promise<void>,
): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  const kept = (sink: Sink): Sink => ({
    isTTY: sink.isTTY,
    columns: sink.columns,
    isClosed: false,
    write: (more) => void (text += more),
    writeBytes: (bytes) => void (text += decoder.decode(bytes, { stream: true })),
  });
  const stdout = kept(environment.stdout);
  const stderr = stdout.isTTY ? kept(environment.stderr) : environment.stderr;
  await body(open({ ...environment, stdout, stderr }));
  return text;
}

/** Writes each text only once, so that a pipe does not get the same note again with each output. */
function eachOnce(sink: Sink): Sink {
  const written = new Set<string>();
  return {
    ...sink,
    write: (text) => {
      if (!written.has(text)) sink.write(text);
      written.add(text);
    },
  };
}
