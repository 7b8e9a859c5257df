// Reads labels from the command line (KEY=VALUE, once for each label) and prints labels.
import { each } from "../framework.ts";
import { usageFailure } from "./failure.ts";

export const LABEL_OPTION = ["--label <key=value>", "label, such as env=production; may be repeated", each] as const;
export const LABEL_FILTER_OPTION = [
  "--label <label>",
  "only objects with this label: KEY=VALUE, or KEY for any value; may be repeated",
  each,
] as const;

export const REMOVE_LABEL_OPTION = ["--remove-label <key>", "label to remove; may be repeated", each] as const;

export type LabelOptions = { readonly label?: readonly string[]; readonly removeLabel?: readonly string[] };

/** Returns the change of labels that the options name, or undefined without such options. */
export function labelsPatch({ label, removeLabel }: LabelOptions): Record<string, string | null> | undefined {
  if (label === undefined && removeLabel === undefined) return undefined;
  const removed = Object.fromEntries((removeLabel ?? []).map((key) => [key, null]));
  return { ...removed, ...parseLabels(label ?? []) };
}

/** Returns the labels of KEY=VALUE words. Throws a usage Failure for a word without a key or without `=`. */
export function parseLabels(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(words.map((word) => {
    const at = word.indexOf("=");
    if (at < 1) throw usageFailure(`a label is KEY=VALUE, not ${word}`);
    return [word.slice(0, at), word.slice(at + 1)];
  }));
}

/** Returns the query parameter of a list that filters by labels. */
export function labelFilter(words: readonly string[] | undefined): string | undefined {
  return words === undefined ? undefined : words.join(",");
}

/** Returns labels as one text: `env=test,tier=web`. */
export function labelText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels).sort(([a], [b]) => a < b ? -1 : 1).map(([key, value]) => `${key}=${value}`).join(",");
}

/** Returns the line of labels for the text of one object; nothing without labels. */
export function labelLines(labels?: Readonly<Record<string, string>>): readonly (readonly ["labels", string])[] {
  // An older server sends no labels.
  const text = labelText(labels ?? {});
  return text === "" ? [] : [["labels", text]];
}
