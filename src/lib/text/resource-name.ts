// Checks resource names. A name is one line. Invisible characters and characters that change the direction of text are
// not allowed: with them, one record could look like another.
import { conflict, type Fault } from "../../contract/fault.ts";
import { RESOURCE_NAME_BYTES_MAX } from "../../contract/limits.ts";

// deno-lint-ignore no-control-regex -- the pattern must match control characters
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
/** Marks, embeddings, overrides and isolates of the Unicode bidirectional algorithm (UAX 9). */
const BIDIRECTIONAL = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
/** Zero-width spaces and joiners, soft hyphens, fillers, variation selectors, tags, and other invisible characters. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

/**
 * Returns the 409 for a name that is not allowed, or null.
 * @param name any string; its length is counted in bytes of UTF-8
 */
export function nameFault(name: string): Fault | null {
  const broken = brokenRule(name);
  return broken === null ? null : conflict(`name ${broken}`);
}

/**
 * Returns the 409 for a changed name that is not allowed, or null. An unchanged name is always accepted, because
 * earlier versions accepted more names.
 * @param before - The stored name.
 */
export function renameFault(before: string, name: string): Fault | null {
  return name === before ? null : nameFault(name);
}

function brokenRule(name: string): string | null {
  const bytes = new TextEncoder().encode(name).length;
  if (bytes < 1 || bytes > RESOURCE_NAME_BYTES_MAX) return `must be 1 to ${RESOURCE_NAME_BYTES_MAX} bytes long`;
  if (/[/\\]/.test(name)) return "must not contain / or \\";
  const unreadable = unreadableRule(name);
  if (unreadable !== null) return unreadable;
  if (name !== name.trim()) return "must not begin or end with white space";
  if (!name.isWellFormed()) return "must be well-formed Unicode";
  return null;
}

/**
 * Checks a one-line text that is not a resource name, such as an API key's description. Returns the 409 or null.
 * Length, slashes and outer spaces are not checked.
 * @param field the name of the text's field, for the error text
 */
export function lineFault(field: string, text: string): Fault | null {
  const broken = unreadableRule(text);
  return broken === null ? null : conflict(`${field} ${broken}`);
}

function unreadableRule(text: string): string | null {
  if (CONTROL.test(text)) return "must not contain control characters";
  const [turning] = BIDIRECTIONAL.exec(text) ?? [];
  if (turning !== undefined) return `must not contain characters that change the direction of text (${code(turning)})`;
  const [invisible] = INVISIBLE.exec(text) ?? [];
  return invisible === undefined ? null : `must not contain invisible characters (${code(invisible)})`;
}

/** Returns the code point of a character as text, such as U+202E. */
function code(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** The name and the description of a record. */
export type Named = { readonly name: string; readonly description: string };

/** A change of name and description. Null keeps the present value. */
export type Renaming = { readonly [Field in keyof Named]: string | null };

/** Returns the changed record, or the 409 for a changed name that is not allowed. */
export function renamed<R extends Named>(record: R, to: Renaming): R | Fault {
  const name = to.name ?? record.name;
  return renameFault(record.name, name) ?? { ...record, name, description: to.description ?? record.description };
}
