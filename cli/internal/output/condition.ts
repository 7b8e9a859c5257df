// Parses and tests one condition of --filter. The user writes a size or an age as the table shows it: `memory>8GiB` and
// `age>1h` work on values that are bytes and times.
import { byteSizeOf, sizeText } from "../byte-size.ts";
import { usageFailure } from "../failure.ts";
import type { ColumnStyle } from "../table.ts";
import { durationMs } from "../time-text.ts";
import { ageText } from "./age.ts";
import { compare, isUnset, textOf } from "./value.ts";

const OPERATORS = ["!=", "~", "=", ">", "<", ">=", "<="] as const;
type Operator = (typeof OPERATORS)[number];
const CONDITION = /^\s*([\w.-]+)\s*(!=|>=|<=|~|=|>|<)(.*)$/s;

export type Condition = { readonly key: string; readonly operator: Operator; readonly wanted: string };

/** Parses `memory>8GiB`. Throws a usage Failure if the text is not a condition. */
export function conditionOf(text: string): Condition {
  const [, key = "", operator, wanted = ""] = CONDITION.exec(text) ?? [];
  if (operator === undefined) {
    throw usageFailure(
      `--filter: ${JSON.stringify(text)} is not a condition; write KEY, one of ${
        OPERATORS.join(" ")
      }, and VALUE, such as state=running`,
    );
  }
  return { key, operator: operator as Operator, wanted: wanted.trim() };
}

export type Filtered = {
  readonly format: ColumnStyle["format"];
  /** The values of all rows. */
  readonly values: readonly unknown[];
  readonly now_ms: number;
};

/**
 * Returns the test of a condition. Throws a usage Failure if the operator is `<`, `>`, `<=` or `>=`, and the wanted
 * value cannot be compared with the values of the rows.
 */
export function testOf(condition: Condition, filtered: Filtered): (value: unknown) => boolean {
  const { operator, wanted } = condition;
  const folded = wanted.toLowerCase();
  const size = filtered.format === "bytes" ? byteSizeOf(wanted) : null;
  const texts = (value: unknown) => textsOf(value, filtered).map((text) => text.toLowerCase());
  const equals = (value: unknown) => texts(value).includes(folded) || (size !== null && value === size);
  switch (operator) {
    case "=":
      return equals;
    case "!=":
      return (value) => !equals(value);
    case "~":
      return (value) => texts(value).some((text) => text.includes(folded));
    case ">":
    case "<":
    case ">=":
    case "<=": {
      const difference = differenceOf(condition, filtered);
      const sign = operator.startsWith(">") ? 1 : -1;
      const least = operator.endsWith("=") ? 0 : Number.MIN_VALUE;
      return (value) => !isUnset(value) && sign * difference(value) >= least;
    }
  }
}

/** Returns the value as text. For a size or an age, also returns the text that the table shows. */
function textsOf(value: unknown, { format, now_ms }: Filtered): readonly string[] {
  const text = textOf(value);
  if (format === "bytes" && typeof value === "number") return [text, sizeText(value)];
  if (format === "age" && typeof value === "string") return [text, ageText(value, now_ms)];
  return [text];
}

type Kind = "size" | "number" | "age" | "time" | "text";

const TIME = /^\d{4}-\d{2}-\d{2}(T\S*)?$/i;
const RULES: Readonly<Record<Exclude<Kind, "text">, string>> = {
  size: "is a size; write 512MiB, 4GiB or a number of bytes",
  number: "is a number",
  age: "is an age; write 90s, 30m, 12h or 7d",
  time: "is a time; write 2026-09-01 or 2026-09-01T12:00:00Z",
};

function kindOf({ format, values }: Filtered): Kind {
  if (format === "bytes") return "size";
  if (format === "age" || format === "time") return format;
  const set = values.filter((value) => !isUnset(value));
  if (set.length === 0) return "text";
  if (set.every((value) => typeof value === "number")) return "number";
  return set.every((value) => typeof value === "string" && TIME.test(value)) ? "time" : "text";
}

/** Returns a function for the sign of the difference between a row's value and the wanted one. */
function differenceOf({ key, operator, wanted }: Condition, filtered: Filtered): (value: unknown) => number {
  const kind = kindOf(filtered);
  const refused = (rule: string) => usageFailure(`--filter ${key}${operator}${wanted}: ${key} ${rule}, not ${wanted}`);
  switch (kind) {
    case "size":
    case "number": {
      // The member memory_bytes is a number without a format. It can be compared with a size, too.
      const number = byteSizeOf(wanted) ?? (kind === "number" && wanted !== "" ? Number(wanted) : NaN);
      if (Number.isNaN(number)) throw refused(RULES[kind]);
      return (value) => Number(value) - number;
    }
    case "age":
    case "time": {
      const age_ms = kind === "age" ? durationMs(wanted) : null;
      if (age_ms !== null) return (value) => filtered.now_ms - Date.parse(textOf(value)) - age_ms;
      const time_ms = TIME.test(wanted) ? Date.parse(wanted) : NaN;
      if (Number.isNaN(time_ms)) throw refused(RULES[kind]);
      return (value) => Date.parse(textOf(value)) - time_ms;
    }
    case "text":
      return (value) => compare(value, wanted);
  }
}
