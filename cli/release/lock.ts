// Reads the npm packages in deno.lock: exact versions, digests and dependencies.
import { readFile } from "node:fs/promises";

export type LockedPackage = {
  readonly name: string;
  readonly version: string;
  /** "sha512-" and base64: the digest of the registry's archive. */
  readonly integrity: string;
  /** Dependencies, as keys of the lock. */
  readonly needs: readonly string[];
};

/** Packages by the lock's key: name@version, and the versions of peers after underscores. */
export type Lock = ReadonlyMap<string, LockedPackage>;

type LockText = {
  readonly npm: Readonly<
    Record<string, {
      readonly integrity: string;
      readonly dependencies?: readonly string[];
      readonly optionalDependencies?: readonly string[];
    }>
  >;
};

export async function readLock(path: string): Promise<Lock> {
  const { npm } = JSON.parse(await readFile(path, "utf8")) as LockText;
  const keys = Object.keys(npm);
  return new Map(
    Object.entries(npm).map(([key, { integrity, dependencies = [], optionalDependencies = [] }]) => [key, {
      ...identityOf(key),
      integrity,
      needs: [...dependencies, ...optionalDependencies].flatMap((named) => keyOf(keys, named) ?? []),
    }]),
  );
}

/**
 * Returns the named packages and all their dependencies, sorted by name. Throws an Error if the lock lacks a named
 * package.
 */
export function closureOf(lock: Lock, names: readonly string[]): readonly LockedPackage[] {
  const found = new Map<string, LockedPackage>();
  const rest = names.map((name) => {
    const key = keyOf([...lock.keys()], name);
    if (key === null) throw new Error(`deno.lock has no package ${name}`);
    return key;
  });
  for (let key = rest.pop(); key !== undefined; key = rest.pop()) {
    if (found.has(key)) continue;
    const locked = lock.get(key)!;
    found.set(key, locked);
    rest.push(...locked.needs);
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Finds the key of a dependency. In its lists of dependencies, the lock omits the version of a package that it has only
 * once.
 */
function keyOf(keys: readonly string[], named: string): string | null {
  return keys.find((key) => key === named) ?? keys.find((key) => key.startsWith(`${named}@`)) ??
    keys.find((key) => key.startsWith(`${named}_`)) ?? null;
}

function identityOf(key: string): { readonly name: string; readonly version: string } {
  const at = key.indexOf("@", 1);
  return { name: key.slice(0, at), version: key.slice(at + 1).split("_")[0]! };
}
