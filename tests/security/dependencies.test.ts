// What we build on is named exactly, held by its hash, little, and not of a version with a known hole. Rule S-41. That
// nothing new is known of what the lock names is asked of a register by whoever makes a release: `deno audit`.
import { expect, test } from "vitest";
import { readText } from "../house/sources.ts";

const { dependencies, devDependencies } = JSON.parse(readText("package.json")) as Record<
  string,
  Record<string, string>
>;
const lock = JSON.parse(readText("deno.lock")) as {
  readonly npm: Readonly<Record<string, { readonly integrity?: string }>>;
  readonly workspace: { readonly packageJson: { readonly dependencies: readonly string[] } };
};
const direct = { ...dependencies, ...devDependencies };

test("S-41: every direct dependency is one exact version, and there are at most 25", () => {
  expect(Object.entries(direct).filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))).toEqual([]);
  expect(Object.keys(direct).length).toBeLessThanOrEqual(25);
});

test("S-41: the lock holds every package by its SHA-512", () => {
  const packages = Object.entries(lock.npm);
  expect(packages.length).toBeGreaterThanOrEqual(Object.keys(direct).length);
  expect(packages.filter(([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ""))).toEqual([]);
  const named = Object.entries(direct).map(([name, version]) => `npm:${name}@${version}`);
  expect([...lock.workspace.packageJson.dependencies].sort()).toEqual(named.sort());
});

/** The first versions without a hole that reached us (reliability.md, S-41). */
const FLOORS: Readonly<Record<string, string>> = { hono: "4.12.22", openpgp: "6.1.1" };

test("S-41: nothing is older than the mend of a hole that it had", () => {
  const number = (version: string) =>
    version.split(".").reduce((sum, part) => sum * 100_000 + Number.parseInt(part), 0);
  for (const [name, floor] of Object.entries(FLOORS)) {
    const found = Object.keys(lock.npm).map((key) => /^(.+)@(\d+\.\d+\.\d+)/.exec(key)).filter((each) =>
      each?.[1] === name
    );
    expect(found.length, name).toBeGreaterThan(0);
    for (const each of found) expect(number(each?.[2] ?? "0"), each?.[0]).toBeGreaterThanOrEqual(number(floor));
  }
  expect(number(Deno.version.deno)).toBeGreaterThanOrEqual(number("2.9.6"));
});
