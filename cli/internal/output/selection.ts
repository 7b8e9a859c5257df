// Implements --columns, --sort-by and --filter of a list. A key is the title of a column, in upper or lower case, or a
// member of the record, such as lifecycle.reason.
import { usageFailure } from "../failure.ts";
import type { Column } from "../table.ts";
import type { Entry } from "./answer.ts";
import { conditionOf, testOf } from "./condition.ts";
import type { ListFlags } from "./format.ts";
import { compare, isUnset } from "./value.ts";

const LIST_ORDER = ["asc", "desc"] as const;

/** Returns the entries that match --filter, in the order of --sort-by. Ages are counted from `now_ms`. */
export function selected<T>(
  entries: readonly Entry<T>[],
  columns: readonly Column<T>[],
  { filter, sortBy, now_ms }: Pick<ListFlags, "filter" | "sortBy"> & { readonly now_ms: number },
): readonly Entry<T>[] {
  const kept = filter === undefined ? entries : entries.filter(filterOf(filter, columns, entries, now_ms));
  return sortBy === undefined ? kept : sorted(kept, columns, sortBy);
}

/** Returns the columns that --columns names, else all. A member of the record becomes a column. */
export function shownColumns<T>(
  entries: readonly Entry<T>[],
  columns: readonly Column<T>[],
  named: string | undefined,
): readonly Column<Entry<T>>[] {
  if (named === undefined) return columns.map(([title, cell, style]) => [title, ({ row }) => cell(row), style]);
  return named.split(",").map((text): Column<Entry<T>> => {
    const key = text.trim();
    const column = columnOf(columns, key);
    if (column === undefined) return [key.toUpperCase(), reader(key, columns, entries)];
    const [title, cell, style] = column;
    return [title, ({ row }) => cell(row), { ...style, wide: false }];
  });
}

function sorted<T>(entries: readonly Entry<T>[], columns: readonly Column<T>[], text: string): readonly Entry<T>[] {
  const [key = "", order = "asc", ...rest] = text.split(":");
  if (rest.length > 0 || !LIST_ORDER.some((each) => each === order)) {
    throw usageFailure(`--sort-by must be KEY, KEY:asc or KEY:desc, not ${text}`);
  }
  const read = reader(key, columns, entries);
  // The values in a column of ages are times. The latest time is the lowest age, so the order is reversed.
  const is_age = columnOf(columns, key)?.[2]?.format === "age";
  const sign = (order === "desc") === is_age ? 1 : -1;
  return entries.toSorted((a, b) => {
    const [left, right] = [read(a), read(b)];
    // Rows without a value come last, whether the order is ascending or descending.
    if (isUnset(left) || isUnset(right)) return Number(isUnset(left)) - Number(isUnset(right));
    return sign * compare(left, right);
  });
}

/** Parses `state=running,name~web`. All conditions must hold. */
function filterOf<T>(text: string, columns: readonly Column<T>[], entries: readonly Entry<T>[], now_ms: number) {
  const tests = text.split(",").map((part) => {
    const condition = conditionOf(part);
    const read = reader(condition.key, columns, entries);
    const format = columnOf(columns, condition.key)?.[2]?.format;
    const holds = testOf(condition, { format, values: entries.map(read), now_ms });
    return (entry: Entry<T>) => holds(read(entry));
  });
  return (entry: Entry<T>) => tests.every((test) => test(entry));
}

function columnOf<T>(columns: readonly Column<T>[], key: string): Column<T> | undefined {
  const wanted = key.toUpperCase().replaceAll("-", "_");
  return columns.find(([title]) => title.replaceAll(" ", "_") === wanted);
}

function reader<T>(
  key: string,
  columns: readonly Column<T>[],
  entries: readonly Entry<T>[],
): (entry: Entry<T>) => unknown {
  const column = columnOf(columns, key);
  if (column !== undefined) return ({ row }) => column[1](row);
  const path = key.split(".");
  const read = ({ item }: Entry<T>) => path.reduce<unknown>(member, item);
  // A list without records cannot show which members its records have.
  if (entries.length > 0 && entries.every((entry) => read(entry) === undefined)) {
    const titles = columns.map(([title]) => title.toLowerCase()).join(", ");
    throw usageFailure(
      `the list has no column ${key === "" ? '""' : key}; its columns are ${titles}; ` +
        "-o json and -o jsonpath=.items[*].FIELD print other fields of the records",
    );
  }
  return read;
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}
