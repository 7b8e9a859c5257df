// Finds the id and the name of a record of any kind, for `-q` and `-o name`.

const ID_MEMBERS = ["id", "server_uuid", "mac", "key", "stamp", "seq"] as const;
const NAME_MEMBERS = ["name", "hostname", "username"] as const;

/** Returns the id of a record, or null if the value is not a record with an id. */
export function idOf(value: unknown): string | null {
  return firstOf(value, ID_MEMBERS);
}

/** Returns the name of a record, or the id of a record without a name; null if the record has neither. */
export function nameOf(value: unknown): string | null {
  return firstOf(value, NAME_MEMBERS) ?? idOf(value);
}

function firstOf(value: unknown, members: readonly string[]): string | null {
  if (typeof value !== "object" || value === null) return null;
  for (const member of members) {
    const found = Object.hasOwn(value, member) ? (value as Record<string, unknown>)[member] : undefined;
    if (typeof found === "string" || typeof found === "number") return String(found);
  }
  return null;
}
