// A machine's inventory is whatever the machine sent, so every step into it may find something else than expected.

/** The own members of an object, in its order; none of anything else (null, arrays, text, a missing member). */
export function membersOf(value: unknown): [name: string, value: unknown][] {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}

/** One own member of an object; undefined when there is no such member or no object. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
