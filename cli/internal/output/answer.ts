// Finds the records in an answer. A list is an array, or an object without an id that has an array `items` or `events`.
// An object with an id is one record: a webhook, for example, has an id and a field `events`.
import { idOf } from "./identity.ts";

const LIST_MEMBERS = ["items", "events"] as const;

/** A row of a table and the record of the answer that it shows. */
export type Entry<T> = { readonly row: T; readonly item: unknown };

function itemsOf(answer: unknown): readonly unknown[] | null {
  if (Array.isArray(answer)) return answer;
  const member = listMemberOf(answer);
  return member === undefined ? null : (answer as Record<string, readonly unknown[]>)[member]!;
}

function listMemberOf(answer: unknown): string | undefined {
  if (typeof answer !== "object" || answer === null || idOf(answer) !== null) return undefined;
  const members: Readonly<Record<string, unknown>> = { ...answer };
  return LIST_MEMBERS.find((member) => Array.isArray(members[member]));
}

/** Returns the records of a list, or the single record, or nothing if the answer has no record. */
export function recordsOf(answer: unknown): readonly unknown[] {
  return itemsOf(answer) ?? (typeof answer === "object" && answer !== null ? [answer] : []);
}

/** Returns the rows with their records. If the rows are parts of records, each row is its own record. */
export function entriesOf<T>(answer: unknown, rows: readonly T[]): readonly Entry<T>[] {
  const items = itemsOf(answer);
  const parallel = items !== null && items.length === rows.length ? items : rows;
  return rows.map((row, at) => ({ row, item: parallel[at] }));
}

/** Returns an answer with only these records, in this order. */
export function withEntries(answer: unknown, entries: readonly Entry<unknown>[]): unknown {
  const items = entries.map(({ item }) => item);
  const member = listMemberOf(answer);
  return member === undefined ? items : { ...Object(answer), [member]: items };
}

/** Returns a list in the envelope that all lists have. */
export function enveloped(answer: unknown): unknown {
  if (Array.isArray(answer)) return { items: answer };
  const member = listMemberOf(answer);
  if (member === undefined || member === "items") return answer;
  const { [member]: items, ...rest } = Object(answer);
  return { items, ...rest };
}
