// Dependencies are few, pinned to exact versions and hashes, and have no known vulnerability. docs/reliability.md S-41.
// The advisories of one day are stored in tests/fixtures/advisories.json; before a release, `deno audit` checks for
// newer advisories.
import { describe, expect, test } from "vitest";
import { readText } from "../lint/sources.ts";
import {
  type Advisory,
  compareVersions,
  comparisonsOf,
  isInRange,
  packageOf,
  vulnerabilitiesIn,
} from "./advisories.ts";

const { dependencies, devDependencies } = JSON.parse(readText("package.json")) as Record<
  string,
  Record<string, string>
>;
const lock = JSON.parse(readText("deno.lock")) as {
  readonly npm: Readonly<Record<string, { readonly integrity?: string }>>;
  readonly workspace: { readonly packageJson: { readonly dependencies: readonly string[] } };
};
const direct = { ...dependencies, ...devDependencies };

test("S-41: every direct dependency has one exact version, and there are at most 36 direct dependencies", () => {
  expect(Object.entries(direct).filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))).toEqual([]);
  expect(Object.keys(direct).length).toBeLessThanOrEqual(36);
});

test("S-41: the lock file contains the SHA-512 of every package", () => {
  const packages = Object.entries(lock.npm);
  expect(packages.length).toBeGreaterThanOrEqual(Object.keys(direct).length);
  expect(packages.filter(([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ""))).toEqual([]);
  const named = Object.entries(direct).map(([name, version]) => `npm:${name}@${version}`);
  expect([...lock.workspace.packageJson.dependencies].sort()).toEqual(named.sort());
});

const { advisories, date } = JSON.parse(readText("tests/fixtures/advisories.json")) as {
  readonly date: string;
  readonly advisories: readonly Advisory[];
};
const locked = Object.keys(lock.npm);
const names = new Set(locked.map((key) => packageOf(key).name));

test("S-41: no package of the lock file, direct or not, has a known vulnerability", () => {
  expect(vulnerabilitiesIn(locked, advisories)).toEqual([]);
});

test("S-41: Deno is at least the first version that keeps connections open after requests with bodies", () => {
  expect(compareVersions(Deno.version.deno, "2.9.6")).toBeGreaterThanOrEqual(0);
});

describe("S-41: the stored advisories", () => {
  test("have a date, are unique, concern packages of the lock file, and have valid ranges", () => {
    expect(date).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(new Set(advisories.map(({ id }) => id)).size).toBe(advisories.length);
    for (const { id, affected, ...each } of advisories) {
      expect(id).toMatch(/^(?:GHSA(?:-[0-9a-z]{4}){3}|CVE-\d{4}-\d{4,})$/);
      expect(names, id).toContain(each.package);
      expect(comparisonsOf(affected).length, id).toBeGreaterThan(0);
    }
  });

  test.each(advisories.map((each) => [each.id, each] as const))("%s: fixed versions are not affected", (_id, each) => {
    for (const version of each.patched) expect([version, isInRange(version, each.affected)]).toEqual([version, false]);
  });

  // The bounds of each range. For an excluded upper bound (<), the version right before the bound.
  const bounds = advisories.flatMap((each) =>
    comparisonsOf(each.affected).flat().map(({ sign, version }) => ({
      each,
      version: sign === "<" ? `${version}-0` : version,
    }))
  );
  test("report a package whose version is at a bound of an affected range", () => {
    expect(bounds.length).toBeGreaterThanOrEqual(advisories.length);
    for (const { each, version } of bounds) {
      const key = `${each.package}@${version}_of@1.0.0`;
      expect(vulnerabilitiesIn([...locked, key], [each])).toEqual([`${each.package}@${version}: ${each.id}`]);
    }
  });
});

test.each([
  ["1.2.3", "1.2.3+build", 0],
  ["1.2.3", "1.2.4", -1],
  ["1.10.0", "1.9.9", 1],
  ["2.0.0-beta.2", "2.0.0", -1],
  ["2.0.0-beta.2", "2.0.0-beta.10", -1],
  ["2.0.0-beta", "2.0.0-beta.0", -1],
  ["2.0.0-1", "2.0.0-alpha", -1],
  ["2.0.0-alpha", "2.0.0-beta", -1],
  ["18.4.0-beta.17", "18.3.9", 1],
])("comparing %s with %s returns %i", (a, b, order) => {
  expect(Math.sign(compareVersions(a, b))).toBe(order);
  expect(Math.sign(compareVersions(b, a))).toBe(order === 0 ? 0 : -order);
});

test.each(["", "1.2", "latest", "~1.2.3", "^1.2.3", ">= 1.2.3", "1.2.3", "<1.2.x"])(
  "%j is refused as a range",
  (range) => {
    expect(() => isInRange("1.0.0", range)).toThrow(/is not a (?:range|version)/);
  },
);

test.each(["hono", "@hono/x", "hono@latest", "@1.0.0"])("an invalid key %j of a lock file is an error", (key) => {
  expect(() => vulnerabilitiesIn([key], advisories)).toThrow(/is not a (?:package|version)/);
});
