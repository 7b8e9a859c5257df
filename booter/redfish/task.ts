// Waits for the task that a BMC started with an answer 202.
import type { Call } from "./bmc.ts";
import { BmcFault } from "./fault.ts";
import { linkOf, messagesOf, textOf } from "./messages.ts";
import { pathOfLocation } from "./redirect.ts";
import type { BmcAnswer } from "./wire.ts";

/**
 * When the wait for a task ends. `done`: when the task has ended. `scheduled`: also when the task waits, for example
 * for the restart that applies BIOS settings.
 */
export type TaskEnd = "done" | "scheduled";

/** The pause between two reads of a task. */
const LOOK_MS = 2_000;
const FAILED: ReadonlySet<unknown> = new Set(["Exception", "Killed", "Cancelled", "Cancelling", "Interrupted"]);
const WAITING: ReadonlySet<unknown> = new Set(["New", "Pending", "Starting", "Suspended"]);

export type TaskOptions = {
  readonly started: BmcAnswer;
  /** The path of the request that started the task. */
  readonly path: string;
  readonly call: Call;
  readonly sleep: (ms: number) => Promise<void>;
  readonly ends: TaskEnd;
};

/**
 * Returns the last answer about the task. Throws a BmcFault if the task failed. If the BMC names no task, or has
 * deleted the task, returns `started`.
 */
export async function waitForTask({ started, path, call, sleep, ends }: TaskOptions): Promise<BmcAnswer> {
  const monitor = pathOfLocation(started.headers.location, path) ?? linkOf(started.body);
  if (monitor === null) return started;
  for (;;) {
    const answer = await call("GET", monitor);
    // A BMC may delete a task and its monitor after the task has ended.
    if (answer.status === 404 || answer.status === 410) return started;
    const { TaskState: state } = answer.body;
    const messages = textOf(messagesOf({ "@Message.ExtendedInfo": answer.body.Messages }).filter(({ good }) => !good));
    if (answer.status >= 400 || FAILED.has(state)) {
      const reason = textOf(messagesOf(answer.body)) || messages;
      throw new BmcFault(
        `the task ${monitor} failed: ${[state ?? answer.status, reason].join(" ").trim()}`,
        answer.status,
      );
    }
    if (ends === "scheduled" && WAITING.has(state)) return answer;
    const runs = state === undefined ? answer.status === 202 : state !== "Completed";
    if (!runs) return answer;
    await sleep(LOOK_MS);
  }
}
