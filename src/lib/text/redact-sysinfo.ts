// Removes secrets from inventories. Two boot parameters are secret: the root password's hash and the AMQP broker's
// credential. Our code never reads them from an inventory. Therefore the routes remove them before they store an
// inventory, and views remove them again (docs/reliability.md, S-16).
//
// A member is removed when a segment of its key is one of the two names. Dots and slashes separate segments. Spaces
// around a segment and letter case are ignored, and hyphens count as underscores. For example, "ROOT_SHADOW" and
// "boot_params.root-shadow" are removed. Strings keep their content, because a search for secrets in strings would also
// change strings without secrets. So a kernel command line that a machine sends as one string stays whole.
const SECRET_NAMES: ReadonlySet<string> = new Set(["root_shadow", "rabbitmq"]);

/**
 * Returns a copy of a JSON value without the secret members, at every depth, including inside arrays. Does not change
 * its input. Is not recursive, so any depth works.
 */
export function redactSysinfo(value: unknown): unknown {
  if (!isContainer(value)) return value;
  const root = emptyLike(value);
  // Pairs of a container and its copy, which is still empty.
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

/** A quick test that matches every spelling of a secret name, so that most keys need not be split. */
const PERHAPS_SECRET = /root[-_]shadow|rabbitmq/i;

function isSecret(key: string): boolean {
  return PERHAPS_SECRET.test(key) &&
    key.toLowerCase().split(/[./]/).some((segment) => SECRET_NAMES.has(segment.trim().replaceAll("-", "_")));
}
