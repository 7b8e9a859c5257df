import { afterAll, beforeAll, expect, test } from "vitest";
import { runVendor, type VendorOutcome } from "../../index-builder/build/vendor-run.ts";
import type { Vendor } from "../../index-builder/vendor.ts";
import { LIVE, liveExchange } from "../../index-builder/web/live.ts";
import { isPublicAddress } from "../../index-builder/web/address.ts";
import { BEHAVIOURS, type Bodies, DOCUMENTS, everyKindVendor, type Hostile, startHostile } from "./hostile-server.ts";
import { detachedOf, hashOf, makeKey, NOW } from "./signed-web.ts";

const HASH = hashOf("build 2");
let server: Hostile, vendor: Vendor, first: VendorOutcome & { ok: true }, bodies: Bodies;

beforeAll(async () => {
  const key = await makeKey();
  const sums = `${HASH}  image.qcow2\n`;
  bodies = {
    listing: `<pre><a href="../">../</a><a href="1/">1/</a><a href="2/">2/</a></pre>`,
    json: JSON.stringify({ version: "9" }),
    sums,
    signature: await detachedOf(sums, key),
    key: key.publicKey.armor(),
    image: "",
  };
  server = await startHostile(bodies);
  vendor = everyKindVendor(key.fingerprint);
  const outcome = await build(null);
  if (!outcome.ok) throw new Error(outcome.error);
  first = outcome;
});
afterAll(() => server.close());

function build(before: (VendorOutcome & { ok: true }) | null) {
  return runVendor(vendor, {
    exchange: server.exchange,
    signatures: "check",
    now: NOW,
    previous: before?.tree ?? null,
    trust: before?.trust ?? null,
    wait: () => Promise.resolve(),
  });
}

function digestsIn(outcome: VendorOutcome): string[] {
  if (!outcome.ok) return [];
  const artifacts = [...outcome.tree.current.values()].flat().flatMap((made) => made.artifacts);
  return artifacts.flatMap((artifact) => artifact.integrity?.digests.map(({ value }) => value) ?? ["none"]);
}

test("the well-behaved server gives the build that the others are compared with", () => {
  expect(digestsIn(first)).toEqual([HASH]);
  expect(first.tree.current.get("9")?.map(({ build }) => build)).toEqual(["2"]);
  expect(first.notes).toEqual([]);
});

for (const document of DOCUMENTS) {
  test.each(Object.keys(BEHAVIOURS))(
    `a ${document} that %s: no wrong digest is published and the last good files stay`,
    async (name) => {
      server.misbehave(document, BEHAVIOURS[name]!);
      const started_at = performance.now();
      const [fresh, later] = await Promise.all([build(null), build(first)]);
      // Three attempts of 250 ms for one document, and then some.
      expect(performance.now() - started_at).toBeLessThan(5_000);
      // Without a tree before, nothing or the right hash; never another one.
      for (const digest of digestsIn(fresh)) expect([HASH, "none"]).toContain(digest);
      // With one: the vendor fails, and its caller keeps the files, or they come out the same.
      if (later.ok) expect(later.tree.current).toEqual(first.tree.current);
      expect(server.dialled.every((address) => isPublicAddress(address))).toBe(true);
    },
  );
}

test("a name that stands for a private address besides a public one is not asked at all", async () => {
  const dialled: string[] = [];
  const exchange = liveExchange({
    ...LIVE,
    resolve: () => Promise.resolve(["93.184.216.34", "192.168.1.1"]),
    dial: (_, address) => {
      dialled.push(address);
      return { tls: false, host: "127.0.0.1", port: 9 };
    },
  });
  const asked = exchange({ method: "GET", url: "https://rebound.example/", accept: "*/*", bytes_max: 10 });
  await expect(asked).rejects.toThrow("192.168.1.1, which is not public");
  expect(dialled).toEqual([]);
});

test.each([
  "0.0.0.0",
  "10.0.0.1",
  "100.64.0.1",
  "127.0.0.1",
  "127.255.255.255",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.0.8",
  "192.168.255.255",
  "198.18.0.1",
  "224.0.0.1",
  "240.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::ffff:10.0.0.1",
  "::ffff:7f00:1",
  "64:ff9b::a00:1",
  "fc00::1",
  "fd12:3456::1",
  "fe80::1",
  "fec0::1",
  "ff02::1",
  "2001::1",
  "2001:db8::1",
  "2002:a00:1::",
  "3fff::1",
  "0x7f.1",
  "2130706433",
  "127.1",
  "localhost",
  "",
])("%s is no address to connect to", (address) => expect(isPublicAddress(address)).toBe(false));

test.each(["1.1.1.1", "9.255.255.255", "11.0.0.1", "172.32.0.1", "192.169.0.1", "2606:4700::1111", "2a00:1450::1"])(
  "%s is a public address",
  (address) => expect(isPublicAddress(address)).toBe(true),
);
