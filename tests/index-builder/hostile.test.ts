import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runVendor, type VendorOutcome } from "../../index-builder/build/vendor-run.ts";
import type { Build } from "../../index-builder/tree/model.ts";
import type { Vendor } from "../../index-builder/vendor.ts";
import { LIVE, liveExchange } from "../../index-builder/web/live.ts";
import { isPublicAddress } from "../../src/lib/net/public-address.ts";
import {
  BEHAVIOURS,
  DOCUMENTS,
  everyKindVendor,
  goodBodies,
  HASHES,
  type Hostile,
  startHostile,
} from "./hostile-server.ts";
import { makeKey, NOW } from "./signed-web.ts";

let server: Hostile, vendor: Vendor, first: VendorOutcome & { ok: true };

beforeAll(async () => {
  const key = await makeKey();
  server = await startHostile(await goodBodies(key));
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

/** Returns "architecture hash" for every current image, and "vault hash" for every archived image. */
function digestsIn(outcome: VendorOutcome): string[] {
  if (!outcome.ok) return [];
  const lines = (builds: Iterable<readonly Build[]>, place?: string) =>
    [...builds].flat().flatMap(({ artifacts }) => artifacts).map(({ arch, integrity }) =>
      `${place ?? arch} ${integrity?.digests[0]?.value ?? "none"}`
    );
  return [...lines(outcome.tree.current.values()), ...lines(outcome.tree.archived.values(), "vault")];
}

const GOOD = Object.entries(HASHES).map(([place, hash]) => `${place} ${hash}`);
const WITHOUT_ARM = GOOD.filter((line) => !line.startsWith("aarch64"));
const WITHOUT_ARCHIVE = GOOD.filter((line) => !line.startsWith("vault"));

test("the documents of a well-behaved server result in the expected build", () => {
  expect(digestsIn(first)).toEqual(GOOD);
  expect(first.tree.current.get("9")?.map(({ build }) => build)).toEqual(["2"]);
  expect(first.notes).toEqual([]);
});

for (const document of DOCUMENTS) {
  test.each(Object.keys(BEHAVIOURS))(
    `if the server %s for the document ${document}, no wrong digest is published, and only 404 removes good files`,
    async (name) => {
      server.misbehave(document, BEHAVIOURS[name]!);
      const [fresh, later] = await Promise.all([build(null), build(first)]);
      // Without a previous tree, the published hash is right or missing, never wrong.
      for (const line of digestsIn(fresh)) expect([...GOOD, "x86_64 none"]).toContain(line);
      // With a previous tree, the vendor fails and its files stay, or the images stay the same. Exception: if the
      // server sends 404 for an optional document, the images of this document are removed.
      const is_gone = document === "arm" && name === "sends 404";
      if (later.ok) expect(digestsIn(later)).toEqual(is_gone ? WITHOUT_ARM : GOOD);
      if (later.ok && !is_gone) expect(later.tree.current).toEqual(first.tree.current);
      expect(server.dialled.every((address) => isPublicAddress(address))).toBe(true);
    },
  );
}

// Transient faults: the vendor is retried. If the last attempt fails too, an optional document becomes a gap
// (build/gaps.ts).
const NO_ANSWER = ["sends 500", "never answers", "breaks off in the middle", "closes at once"];

test.each(NO_ANSWER)(
  "when the server %s for a required document, the vendor is tried three times, then fails",
  async (name) => {
    server.misbehave("listing", BEHAVIOURS[name]!);
    expect(await build(first)).toMatchObject({
      ok: false,
      attempts: 3,
      error: expect.stringMatching(/^transient: /),
    });
  },
);

test("if the server sends 404 for a required document, the release is left out", async () => {
  server.misbehave("listing", BEHAVIOURS["sends 404"]!);
  const outcome = await build(first);
  expect(outcome).toMatchObject({ ok: false, attempts: 1, error: expect.stringContaining("no release") });
  expect(outcome.notes.map(({ text }) => text).join()).toContain("9: left out");
});

test.each(NO_ANSWER)(
  "when the server %s for an optional document, the vendor is tried three times, then the document's images stay",
  async (name) => {
    server.misbehave("arm", BEHAVIOURS[name]!);
    const [fresh, later] = [await build(null), await build(first)];
    for (const outcome of [fresh, later]) {
      expect(outcome).toMatchObject({ ok: true, attempts: 3 });
      expect(outcome.notes).toMatchObject([{ level: "warning", text: expect.stringMatching(/^arm64: skipped/) }]);
    }
    expect(digestsIn(fresh)).toEqual(WITHOUT_ARM);
    expect(later.ok && later.tree).toEqual(first.tree);
  },
);

test("if the server sends 404 for an optional document, the document's images are removed", async () => {
  server.misbehave("arm", BEHAVIOURS["sends 404"]!);
  const later = await build(first);
  expect(later).toMatchObject({ ok: true, attempts: 1, notes: [] });
  expect(digestsIn(later)).toEqual(WITHOUT_ARM);
});

test.each([
  ["sends an HTML page with status 200", /^untrusted: /],
  ["changes one hex digit", /^untrusted: /],
  ["sends 403", /^refused: /],
  ["redirects to loopback", /^unsafe: /],
])(
  "when the server %s for an optional document, the vendor fails at once; the document is not skipped",
  async (name, error) => {
    server.misbehave("arm", BEHAVIOURS[name]!);
    expect(await build(first)).toMatchObject({ ok: false, attempts: 1, error: expect.stringMatching(error) });
  },
);

const VAULT_FAULTS = ["sends 403", "sends an HTML page with status 200", "sends bytes that are not text"];
for (const document of ["vault", "vault_sums"] as const) {
  test.each([...NO_ANSWER, ...VAULT_FAULTS])(
    `if the server %s for the document ${document}, only builds that are not archived yet are left out; the next run archives them`,
    async (name) => {
      server.misbehave(document, BEHAVIOURS[name]!);
      const fresh = await build(null);
      expect(fresh).toMatchObject({ ok: true, attempts: 1, notes: [{ text: expect.stringContaining("left out") }] });
      expect(digestsIn(fresh)).toEqual(WITHOUT_ARCHIVE);
      server.misbehave(null, null);
      expect(digestsIn(await build(fresh as typeof first))).toEqual(GOOD);
    },
  );
}

test("a bad signature in a vault is an alarm; a vault that answers 500 is a warning", async () => {
  server.misbehave("vault_sums", BEHAVIOURS["changes one hex digit"]!);
  expect((await build(null)).notes).toMatchObject([{ level: "alarm", text: expect.stringContaining("1.0: left out") }]);
  server.misbehave("vault_sums", BEHAVIOURS["sends 500"]!);
  expect((await build(null)).notes).toMatchObject([{ level: "warning" }]);
});

test("S-25: no request is sent to a host name that has a private and a public address", async () => {
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

test("a server that does not answer within the limit is a transient fault", async () => {
  const silent = createServer(() => {});
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const dial = () => ({ tls: false, host: "127.0.0.1", port });
  const exchange = liveExchange({ ...LIVE, total_ms: 50, resolve: () => Promise.resolve(["93.184.216.34"]), dial });
  const asked = exchange({ method: "GET", url: "https://silent.example/", accept: "*/*", bytes_max: 10 });
  await expect(asked).rejects.toMatchObject({ kind: "transient", message: expect.stringContaining("in 50 ms") });
  silent.closeAllConnections();
  silent.close();
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
])("%s is not a public address", (address) => expect(isPublicAddress(address)).toBe(false));

test.each(["1.1.1.1", "9.255.255.255", "11.0.0.1", "172.32.0.1", "192.169.0.1", "2606:4700::1111", "2a00:1450::1"])(
  "%s is a public address",
  (address) => expect(isPublicAddress(address)).toBe(true),
);
