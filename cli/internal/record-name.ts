// Finds a record by its UUID, a unique prefix of the UUID, or its name.
import { EXIT } from "./exit-code.ts";
import { Failure, usageFailure } from "./failure.ts";
import type { Io } from "./io.ts";
import { nearNames } from "../../src/lib/text/near-names.ts";
import { plainText } from "./plain-text.ts";

export type RecordKind<T> = {
  readonly one: string;
  readonly many: string;
  /** The command that lists the records. */
  readonly list?: string;
  id(record: T): string;
  /** Returns a short description that identifies the record to a person. */
  title(record: T): string;
  /** Absent if records of this kind have no names, so that only the id finds a record. */
  readonly isCalled?: (record: T, name: string) => boolean;
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const ANY_UUID = "00000000-0000-0000-0000-000000000000";
const PREFIX_CHARS_MIN = 4;
const CANDIDATES_SHOWN = 10;

export function isUuid(name: string): boolean {
  return UUID.test(name);
}

/** Returns whether the text is the beginning of a UUID, with at least PREFIX_CHARS_MIN characters. */
export function isIdPrefix(text: string): boolean {
  return text.length >= PREFIX_CHARS_MIN && isUuid(text + ANY_UUID.slice(text.length));
}

type Named = { readonly id: string; readonly name: string };

/** Returns `acme (019f...)`, safe to print. */
export function titleOf({ name, id }: Named): string {
  return `${plainText(name)} (${plainText(id)})`;
}

/** Returns the RecordKind of records with an id and a name. */
export function named<T extends Named>(one: string, list: string): RecordKind<T> {
  return {
    one,
    many: `${one}s`,
    list,
    id: ({ id }) => id,
    title: ({ name }) => name,
    isCalled: (record, name) => record.name === name,
  };
}

/** Returns the record at `path/UUID`, or the record in the list at `path` with this name or prefix of its UUID. */
export async function findRecord<T>(io: Io, name: string, { path, kind }: RecordList<T>): Promise<T> {
  if (isUuid(name)) return await io.get<T>(`${path}/${name.toLowerCase()}`);
  return pickRecord(await io.all<T>(path), name, kind);
}

export type RecordList<T> = { readonly path: string; readonly kind: RecordKind<T> };

/** Returns the record that matches the name. Throws a Failure unless there is exactly one. */
export function pickRecord<T>(records: readonly T[], name: string, kind: RecordKind<T>): T {
  const found = records.filter((record) => fits(record, name, kind));
  if (found.length === 1) return found[0]!;
  if (found.length === 0) {
    throw noRecord(name, kind, kind.isCalled === undefined ? [] : nearNames(records.map(kind.title), name));
  }
  const shown = found.slice(0, CANDIDATES_SHOWN).map((record) => `\n  ${kind.id(record)}  ${kind.title(record)}`);
  const more = found.length > CANDIDATES_SHOWN ? `\n  and ${found.length - CANDIDATES_SHOWN} more` : "";
  throw usageFailure(`${name} matches ${found.length} ${kind.many}; use one of these UUIDs:${shown.join("")}${more}`);
}

/** Returns the failure for a name that no record has. `near` are the names that may be meant. */
export function noRecord<T>(name: string, kind: RecordKind<T>, near: readonly string[] = []): Failure {
  const list = kind.list === undefined ? "" : `; to list them, run: ${kind.list}`;
  const hint = near.length === 0 ? list : `; did you mean ${near.join(" or ")}?`;
  const what = kind.isCalled === undefined ? "id" : "name";
  return new Failure(`no ${kind.one} has the ${what} ${name === "" ? '""' : name}${hint}`, EXIT.not_found);
}

// A text can be the name of one record and a prefix of another record's UUID. Both records then match, so the text is
// rejected as ambiguous.
function fits<T>(record: T, name: string, kind: RecordKind<T>): boolean {
  const id = kind.id(record).toLowerCase();
  const wanted = name.toLowerCase();
  if (isUuid(name)) return id === wanted;
  return kind.isCalled?.(record, name) === true || (wanted.length >= PREFIX_CHARS_MIN && id.startsWith(wanted));
}
