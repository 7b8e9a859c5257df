// Formats a plan as text: one line for each step, and below it the fields that change.
import { plainText } from "../plain-text.ts";
import { type Plan, shown, type Step } from "./plan.ts";

const MARKS = { create: "+", change: "~", replace: "±", delete: "-" } as const;

/** Returns the step as in `+ subnet main/front`. */
export function stepLine(step: Step): string {
  const { kind, key } = step.kind === "delete" ? step.existing : step.entry;
  return plainText(`${MARKS[step.kind]} ${kind.singular} ${key}`.trimEnd());
}

export function planText(plan: Plan): string {
  return [...plan.steps.flatMap(stepLines), countText(plan)].join("\n");
}

/** Returns the line of the step, and a line for each field that it changes. */
export function stepLines(step: Step): string[] {
  return [stepLine(step), ...diffLines(step)];
}

function diffLines(step: Step): string[] {
  if (step.kind === "create" || step.kind === "delete") return [];
  return step.diffs.map(({ field, from, to }) => plainText(`    ${field}: ${shown(from)} -> ${shown(to)}`));
}

/** Returns how many steps of each kind a plan has. */
function countText({ steps, unchanged }: Plan): string {
  const count = (kind: Step["kind"]) => steps.filter((step) => step.kind === kind).length;
  return `${count("create")} to create, ${count("change")} to change, ${count("replace")} to replace, ` +
    `${count("delete")} to delete, ${unchanged} unchanged`;
}

/** Returns the result of a plan that ran. */
export function appliedText({ steps, unchanged }: Plan): string {
  return `Applied: ${doneText(steps)}, ${unchanged} unchanged`;
}

/** Returns how many steps of each kind ran. */
export function doneText(steps: readonly Step[]): string {
  const count = (kind: Step["kind"]) => steps.filter((step) => step.kind === kind).length;
  return `${count("create")} created, ${count("change")} changed, ${count("replace")} replaced, ` +
    `${count("delete")} deleted`;
}

/** Returns the steps for `-o json`. */
export function planData({ steps, unchanged }: Plan): unknown {
  return {
    items: steps.map((step) => ({
      action: step.kind,
      list: (step.kind === "delete" ? step.existing : step.entry).list,
      name: (step.kind === "delete" ? step.existing : step.entry).key,
      changes: step.kind === "create" || step.kind === "delete" ? [] : step.diffs,
    })),
    unchanged,
  };
}
