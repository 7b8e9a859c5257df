// Prints the steps of `deno task rack`, with the time since the start of the task, and checks each step.
const started_ms = performance.now();
let checks = 0;

function seconds(): string {
  return `${Math.round((performance.now() - started_ms) / 1_000)}`.padStart(5);
}

export function say(text: string): void {
  console.log(`${seconds()} s  ${text}`);
}

/** Counts a step whose claim is true. If the claim is not true, throws an Error with the values that were seen. */
export function check(claim: string, holds: boolean, seen: unknown = ""): void {
  if (!holds) throw new Error(`not true: ${claim}\n${typeof seen === "string" ? seen : JSON.stringify(seen)}`);
  checks += 1;
  say(`ok: ${claim}`);
}

export function checksPassed(): number {
  return checks;
}
