// Parses the head of a Debian Release file: "Key: value" lines up to the first indented or empty line.
import { unreadable } from "../fault.ts";

/**
 * Returns the fields by name.
 * @throws VendorFault unreadable if a line has another form, or if there are no fields
 */
export function parseStanza(what: string, text: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const line of text.split("\n")) {
    if (/^\s/.test(line) || line === "") break;
    const colon = line.indexOf(":");
    if (colon < 1) throw unreadable(what, "it is not a list of fields");
    fields.set(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  if (fields.size === 0) throw unreadable(what, "it has no fields");
  return fields;
}
