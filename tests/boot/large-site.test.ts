// Tests the documents of a site with 10,000 machines: the roster and the allowlist with as many entries as
// docs/limits.md promises.
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROSTER_ENTRIES_MAX } from "../../src/contract/limits.ts";
import { putPolicy, seen } from "../setup/machine.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
});
afterAll(() => t.close());

const MACHINES = 200;
const octets = (n: number) => [n >> 16, n >> 8, n].map((part) => (part & 255).toString(16).padStart(2, "0")).join(":");
const macOf = (n: number) => `02:be:58:${octets(n)}`;
const every = <T>(make: (n: number) => T) => Array.from({ length: ROSTER_ENTRIES_MAX }, (_, n) => make(n));
const rosterOf = (domain: string) =>
  every((n) => {
    const macs = [macOf(2 * n), macOf(2 * n + 1)];
    const aggregate = { name: "aggr0", mode: "active", macs };
    return { hostname: `${domain}-node${n}`, macs, nic_tags: ["admin", "external"], aggregate };
  });

test("with 10,000 entries in roster and allowlist, machines netboot, and converge changes their records", async () => {
  const allowlist = every((n) => ({ kind: "mac_prefix", value: macOf(2 * n) }));
  expect(okOf(await putPolicy(t, { allowlist })).allowlist).toHaveLength(ROSTER_ENTRIES_MAX);
  expect(okOf(await t.call("PUT", "/v2/cn-boot-roster", { body: rosterOf("old") }))).toHaveLength(ROSTER_ENTRIES_MAX);

  const started_ms = performance.now();
  for (let at = 0; at < MACHINES; at += 10) {
    const records = await Promise.all(Array.from({ length: 10 }, (_, n) => seen(t, macOf(2 * (at + n)))));
    for (const [n, record] of records.entries()) {
      expect(okOf(record)).toMatchObject({ state: "enrolling", hostname: `old-node${at + n}` });
    }
  }
  const booted_ms = performance.now();
  okOf(await t.call("PUT", "/v2/cn-boot-roster", { body: rosterOf("new") }));
  const { converged, unchanged, unknown } = okOf(await t.call("POST", "/v2/cn-boot-roster/converge"));
  expect([converged.length, unchanged.length, unknown.length]).toEqual([MACHINES, 0, ROSTER_ENTRIES_MAX - MACHINES]);
  const each_ms = ((booted_ms - started_ms) / MACHINES).toFixed(1);
  console.log(
    `${each_ms} ms for each netboot; ${(performance.now() - booted_ms).toFixed(0)} ms to replace and converge`,
  );
  expect(okOf(await seen(t, macOf(2)))).toMatchObject({ hostname: "new-node1" });
}, 120_000);

test("a change of the policy or the roster by another process takes effect at once", async () => {
  const mac = macOf(2);
  okOf(await seen(t, mac));
  const other = await openTestControlPlane({ databaseUrl: t.databaseUrl, resident: false });
  okOf(await putPolicy(other, { auto_enroll: false }));
  okOf(await other.call("PUT", "/v2/cn-boot-roster", { body: [{ hostname: "other", macs: [mac] }] }));
  await other.close();
  expect((await t.call("GET", "/v2/cn-boot-policy")).body.auto_enroll).toBe(false);
  expect((await t.call("GET", "/v2/cn-boot-roster")).body).toMatchObject([{ hostname: "other" }]);
  expect(okOf(await t.call("POST", "/v2/cn-boot-roster/converge")).converged).toEqual([mac]);
});
