// When a plan fails, adds the name of the record and a summary of the applied steps to the failure.
import { EXIT } from "../exit-code.ts";
import { Failure, reworded } from "../failure.ts";
import type { Entry } from "./kind.ts";
import type { Plan, Step } from "./plan.ts";
import { doneText } from "./plan-text.ts";

/** Maximum number of records that a failure lists. */
const NOT_APPLIED_MAX = 10;

/** Runs the requests for one record. A failure names the record, unless the user interrupted the command. */
export async function forRecord<T>(entry: Pick<Entry, "kind" | "key">, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isInterrupt(error)) throw error;
    const failure = error instanceof Failure ? error : new Failure(String(error), EXIT.failure);
    throw reworded(failure, `${titleOf(entry)}: ${failure.message}`);
  }
}

/** Returns whether the user interrupted the command. */
export function isInterrupt(error: unknown): boolean {
  return error instanceof Failure && error.exit_code === EXIT.interrupted;
}

/** Returns `Applied: 1 created, …; not applied: subnet main/back, …` for a plan that stopped. */
export function stoppedText({ steps }: Plan, done: readonly Step[]): string {
  const left = steps.filter((step) => !done.includes(step)).map((step) =>
    titleOf(step.kind === "delete" ? step.existing : step.entry)
  );
  const more = left.length > NOT_APPLIED_MAX ? ` and ${left.length - NOT_APPLIED_MAX} more` : "";
  const rest = left.length === 0 ? "" : `; not applied: ${left.slice(0, NOT_APPLIED_MAX).join(", ")}${more}`;
  return `Applied: ${doneText(done)}${rest}`;
}

function titleOf({ kind: { singular }, key }: Pick<Entry, "kind" | "key">): string {
  return `${singular} ${key}`.trimEnd();
}
