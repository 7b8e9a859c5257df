// Parses the search text of the audit log: `action:cn_approve actor:UUID object:TEXT request:UUID decision:deny
// since:TIME until:TIME`. The server does the search. A word without a field finds the events whose object contains the
// word.

/** The server's filters, by their names on the wire. */
export type AuditSearch = Readonly<Record<string, string>>;

/** The fields of the text, with their names on the wire. */
const FIELDS: Readonly<Record<string, string>> = {
  actor: "actor",
  action: "action",
  object: "resource",
  request: "request_id",
  decision: "decision",
  since: "since",
  until: "until",
};
const WHOLE_UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Returns the filters of a search text, or a sentence that describes the mistake in the text. The server refuses an
 * incomplete UUID, so the console sends the filters only when every UUID is complete.
 */
export function auditSearchOf(text: string): AuditSearch | string {
  const found: Record<string, string> = {};
  for (const part of text.trim().split(/\s+/).filter((each) => each !== "")) {
    const [, name = "", value = ""] = /^([a-z]+):(.*)$/.exec(part) ?? [];
    const field = Object.hasOwn(FIELDS, name) ? FIELDS[name]! : "resource";
    const wanted = field === "resource" && name !== "object" ? part : value;
    if (wanted === "") return `${name}: needs a value`;
    if (found[field] !== undefined) return `Only one ${name === "" ? "word for the object" : name} at a time`;
    if ((field === "actor" || field === "request_id") && !WHOLE_UUID.test(wanted)) return `${name}: needs a whole UUID`;
    found[field] = wanted;
  }
  return found;
}

/** Returns the flags of `opsctl audit list` and `tenantctl audit list` for these filters. */
export function auditFlags({ request_id, ...rest }: AuditSearch): Readonly<Record<string, string | undefined>> {
  return {
    ...Object.fromEntries(Object.entries(rest).map(([name, value]) => [`--${name}`, value])),
    "--request": request_id,
  };
}
