// Reads members of a machine's inventory. The machine may have sent any JSON, so each function checks the type first.

/**
 * Lists the own members of an object, in order; returns an empty list for any other value (null, array, text,
 * undefined).
 */
export function membersOf(value: unknown): [name: string, value: unknown][] {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}

/** Returns one own member of an object; undefined if the value is not an object or lacks the member. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
