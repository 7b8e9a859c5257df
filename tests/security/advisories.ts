// Compares versions with each other and with the ranges of advisories. The order follows semver.org, section 11:
// pre-releases come before their release.
export type Advisory = {
  /** GHSA-..., or CVE-... if the advisory has no GHSA id. */
  readonly id: string;
  readonly package: string;
  /** Comparisons that must all hold, such as `>=2.0.0 <2.1.4`; alternatives are separated by ||. */
  readonly affected: string;
  /** The first fixed versions, one for each release line. */
  readonly patched: readonly string[];
  readonly source: string;
};

const VERSION = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/;
const COMPARISON = /^(<=|>=|<|>|=)(.+)$/;

/** Returns a negative number when a sorts before b. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  for (const [at, number] of left.numbers.entries()) {
    const difference = number - right.numbers[at]!;
    if (difference !== 0) return difference;
  }
  if (left.before.length === 0 || right.before.length === 0) return right.before.length - left.before.length;
  for (let at = 0; at < Math.max(left.before.length, right.before.length); at++) {
    const [one, other] = [left.before[at], right.before[at]];
    if (one === undefined || other === undefined) return one === undefined ? -1 : 1;
    if (one !== other) return compareIdentifiers(one, other);
  }
  return 0;
}

/** Compares pre-release identifiers: numbers sort before text. */
function compareIdentifiers(a: string, b: string): number {
  const [left, right] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (left && right) return Number(a) - Number(b);
  if (left !== right) return left ? -1 : 1;
  return a < b ? -1 : 1;
}

function partsOf(version: string): { readonly numbers: readonly number[]; readonly before: readonly string[] } {
  const found = VERSION.exec(version);
  if (found === null) throw new Error(`${version} is not a version`);
  const [, major, minor, patch, before] = found;
  return { numbers: [major, minor, patch].map(Number), before: before === undefined ? [] : before.split(".") };
}

export type Comparison = { readonly sign: string; readonly version: string };

/** Parses a range into its alternatives. Throws an Error for an invalid range. */
export function comparisonsOf(range: string): readonly (readonly Comparison[])[] {
  return range.split("||").map((alternative) =>
    alternative.trim().split(/\s+/).map((text) => {
      const [, sign, version] = COMPARISON.exec(text) ?? [];
      if (sign === undefined || version === undefined) throw new Error(`${range} is not a range`);
      partsOf(version);
      return { sign, version };
    })
  );
}

export function isInRange(version: string, range: string): boolean {
  return comparisonsOf(range).some((all) => all.every((each) => holds(compareVersions(version, each.version), each)));
}

function holds(order: number, { sign }: Comparison): boolean {
  switch (sign) {
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
    default:
      return order === 0;
  }
}

/** Returns `name@version: id` for every vulnerable package. A key in `locked` may have a suffix after the version. */
export function vulnerabilitiesIn(locked: readonly string[], advisories: readonly Advisory[]): readonly string[] {
  return locked.flatMap((key) => {
    const { name, version } = packageOf(key);
    return advisories.filter((each) => each.package === name && isInRange(version, each.affected))
      .map(({ id }) => `${name}@${version}: ${id}`);
  });
}

/** Parses a key of the lock file. Throws an Error for an invalid key, so that no package is skipped. */
export function packageOf(key: string): { readonly name: string; readonly version: string } {
  const [, name, version] = /^(@?[^@]+)@([^_]+)/.exec(key) ?? [];
  if (name === undefined || version === undefined) throw new Error(`${key} is not a package`);
  partsOf(version);
  return { name, version };
}
