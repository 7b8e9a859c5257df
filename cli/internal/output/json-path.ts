// Implements the part of JSONPath that selects values by name and position, such as `.items[*].name` or `$.a['b'][0]`.
// A path may be in braces.
import { usageFailure } from "../failure.ts";

type Step = { readonly kind: "name"; readonly name: string } | { readonly kind: "at"; readonly index: number } | {
  readonly kind: "all";
};

const STEP =
  /\.?(?:\[(?<index>-?[0-9]+)\]|(?<all>\[\*\]|\*)|\[(?<quoted>'[^']*'|"[^"]*")\]|(?<plain>[A-Za-z_][\w-]*))/y;

/** Parses a path. Throws a usage Failure that shows where the path is wrong. */
function stepsOf(path: string): Step[] {
  const text = path.trim().replace(/^\{(.*)\}$/, "$1").replace(/^\$/, "");
  const steps: Step[] = [];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < text.length && text !== ".") {
    const at = STEP.lastIndex;
    const found = STEP.exec(text);
    if (found === null) {
      throw usageFailure(
        `-o jsonpath: cannot read ${JSON.stringify(text.slice(at))}; write .items[*].name or .items[0]`,
      );
    }
    const { index, all, quoted, plain = quoted?.slice(1, -1) ?? "" } = found.groups!;
    if (all !== undefined) steps.push({ kind: "all" });
    else if (index !== undefined) steps.push({ kind: "at", index: Number(index) });
    else steps.push({ kind: "name", name: plain });
  }
  return steps;
}

/** Returns the values at a path, in order. A missing member has no value. */
export function valuesAt(value: unknown, path: string): unknown[] {
  return stepsOf(path).reduce<unknown[]>((values, step) => values.flatMap((each) => next(each, step)), [value]);
}

function next(value: unknown, step: Step): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  switch (step.kind) {
    case "all":
      return Object.values(value);
    case "at":
      return Array.isArray(value) && value.at(step.index) !== undefined ? [value.at(step.index)] : [];
    case "name":
      return Object.hasOwn(value, step.name) ? [(value as Record<string, unknown>)[step.name]] : [];
  }
}
