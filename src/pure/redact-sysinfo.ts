// Two boot parameters are secrets: the root password's hash and the message bus credential. They must never leave with
// a hardware inventory, wherever in it a machine put them. Document 2, CN record, sysinfo; reliability rule S-16.
//
// A member is removed when one segment of its key (split at dots and slashes, trimmed, any letter case, hyphens read as
// underscores) is one of the two names, so "ROOT_SHADOW", " rabbitmq " and "boot_params.root-shadow" all go. The text
// of a string value is not searched: a machine that pastes its whole kernel command line into one string has published
// it already, and cutting inside strings would corrupt others.
const SECRET_NAMES: ReadonlySet<string> = new Set(["root_shadow", "rabbitmq"]);

/**
 * A copy of a JSON value without the secret members, at every depth, also inside arrays. Never changes its input and
 * does not use the call stack, so depth is not limited.
 */
export function redactSysinfo(value: unknown): unknown {
  const root = { copy: undefined as unknown };
  const work: { from: unknown; put: (copy: unknown) => void }[] = [{ from: value, put: (copy) => (root.copy = copy) }];
  for (let item = work.pop(); item !== undefined; item = work.pop()) {
    const { from, put } = item;
    if (Array.isArray(from)) {
      const copy: unknown[] = new Array(from.length);
      put(copy);
      from.forEach((member, index) => work.push({ from: member, put: (value) => (copy[index] = value) }));
    } else if (typeof from === "object" && from !== null) {
      const copy: Record<string, unknown> = {};
      put(copy);
      for (const [key, member] of Object.entries(from)) {
        if (isSecret(key)) continue;
        // Reserves the place now, so that the order of keys survives; and defines, since a member may be "__proto__".
        Object.defineProperty(copy, key, { value: undefined, enumerable: true, writable: true, configurable: true });
        work.push({ from: member, put: (value) => Object.defineProperty(copy, key, { value }) });
      }
    } else {
      put(from);
    }
  }
  return root.copy;
}

function isSecret(key: string): boolean {
  return key.toLowerCase().split(/[./]/).some((segment) => SECRET_NAMES.has(segment.trim().replaceAll("-", "_")));
}
