// The rule of names. Document 3, Networking resources.
import { conflict, type Fault } from "../contract/fault.ts";
import { RESOURCE_NAME_BYTES_MAX } from "../contract/limits.ts";

// deno-lint-ignore no-control-regex -- control characters are what it looks for
const CONTROL = /[\u0000-\u001f\u007f]/;

/**
 * The 409 for a name that breaks the rule, or null.
 * @param name any string; its length counts in bytes of UTF-8
 */
export function nameFault(name: string): Fault | null {
  const broken = brokenRule(name);
  return broken === null ? null : conflict(`name ${broken}`);
}

function brokenRule(name: string): string | null {
  const bytes = new TextEncoder().encode(name).length;
  if (bytes < 1 || bytes > RESOURCE_NAME_BYTES_MAX) return `must be 1 to ${RESOURCE_NAME_BYTES_MAX} bytes long`;
  if (/[/\\]/.test(name)) return "must not contain / or \\";
  if (CONTROL.test(name)) return "must not contain control characters";
  if (name !== name.trim()) return "must not begin or end with white space";
  if (!name.isWellFormed()) return "must be well-formed Unicode";
  return null;
}

/** What people call a record and say of it. */
export type Named = { readonly name: string; readonly description: string };

/** A change of that: null leaves it as it is. */
export type Renaming = { readonly [Field in keyof Named]: string | null };

/** The record under the name that it has after the change, or the 409 for a name that breaks the rule. */
export function renamed<R extends Named>(record: R, to: Renaming): R | Fault {
  const name = to.name ?? record.name;
  return nameFault(name) ?? { ...record, name, description: to.description ?? record.description };
}
