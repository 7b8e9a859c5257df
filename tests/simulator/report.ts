// Describes a failing run: its seed, its violations, and the history of the actor concerned.
import { refKey } from "../../actors/engine/types.ts";
import { actorKey } from "./evidence.ts";
import type { Plan } from "./plan.ts";
import type { Verdict } from "./run.ts";
import { START_MS } from "./environment.ts";

/** Describes a failing plan. `shrunk` is the smaller plan and the result of running it. */
export function failureText(plan: Plan, shrunk: { readonly plan: Plan; readonly verdict: Verdict }): string {
  const [first] = shrunk.verdict.violations;
  return [
    `seed ${plan.seed}: ${first === undefined ? "no violation" : `${first.invariant}: ${first.about}: ${first.text}`}`,
    ...shrunk.verdict.violations.slice(1).map((each) => `  also ${each.invariant}: ${each.about}: ${each.text}`),
    `plan (${plan.commands.length} commands): ${JSON.stringify(plan)}`,
    `shrunk (${shrunk.plan.commands.length} commands): ${JSON.stringify(shrunk.plan)}`,
    ...(first === undefined ? [] : historyOf(first.about, shrunk.verdict)),
  ].join("\n");
}

/** Lists the messages to one actor and its transitions, in order. Times are milliseconds since the start of the run. */
function historyOf(about: string, { journal }: Verdict): readonly string[] {
  const lines: { readonly stamp: number; readonly text: string }[] = [];
  const note = (at: { readonly stamp: number; readonly ms: number }, text: string) =>
    lines.push({ stamp: at.stamp, text: `  ${String(at.ms - START_MS).padStart(7)}  ${text}` });
  for (const each of journal.operations) {
    if (refKey(each.to) !== about) continue;
    const name = `${each.message.type} (command ${each.command})`;
    note(each.sent, `sent      ${name} as ${each.msg_id} to process ${each.engine}`);
    if (each.answered === null) continue;
    note(each.answered, `answered  ${name} after ${each.attempts} attempts: ${each.out} ${each.fault?.message ?? ""}`);
  }
  for (const each of journal.transitions) {
    if (actorKey(each) !== about) continue;
    note(
      each.applied,
      `written   ${each.event} ${each.from_state}>${each.to_state} at seq ${each.seq} of ${each.incarnation}`,
    );
  }
  return [`history of ${about}:`, ...lines.sort((a, b) => a.stamp - b.stamp).map(({ text }) => text)];
}
