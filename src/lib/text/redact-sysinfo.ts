// Two boot parameters are secrets: the root password's hash and the message bus credential. Nothing reads them from an
// inventory, so the routes remove them before they store one, and views remove them again before they show one. Document
// 2, CN record, sysinfo; reliability rule S-16.
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
  if (!isContainer(value)) return value;
  const root = emptyLike(value);
  // Each container with its copy, still to be filled.
  const work: [Container, Container][] = [[value, root]];
  for (let pair = work.pop(); pair !== undefined; pair = work.pop()) {
    const [from, to] = pair;
    for (const key of Object.keys(from)) {
      if (!Array.isArray(from) && isSecret(key)) continue;
      const member = from[key];
      const copy = isContainer(member) ? emptyLike(member) : member;
      if (copy !== member) work.push([member as Container, copy as Container]);
      // A member called "__proto__" would set the prototype instead.
      if (key === "__proto__") Object.defineProperty(to, key, { value: copy, ...ORDINARY });
      else to[key] = copy;
    }
  }
  return root;
}

type Container = { [key: string]: unknown };

const ORDINARY = { enumerable: true, writable: true, configurable: true };

function isContainer(value: unknown): value is Container {
  return typeof value === "object" && value !== null;
}

function emptyLike(value: Container): Container {
  return (Array.isArray(value) ? [] : {}) as Container;
}

/** Holds for every spelling of a secret name, so that most keys need not be cut up. */
const PERHAPS_SECRET = /root[-_]shadow|rabbitmq/i;

function isSecret(key: string): boolean {
  return PERHAPS_SECRET.test(key) &&
    key.toLowerCase().split(/[./]/).some((segment) => SECRET_NAMES.has(segment.trim().replaceAll("-", "_")));
}
