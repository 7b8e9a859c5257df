// Tests the effect of each failure of a vendor's server: the table in index-builder/README.md, row by row. In the
// titles, a file that answers 404 is a file for which the server answers a request with 404.
import { expect, test } from "vitest";
import { openDocuments } from "../../index-builder/build/documents.ts";
import { newNotes } from "../../index-builder/build/report.ts";
import { runVendor, type VendorOutcome, type VendorSetting } from "../../index-builder/build/vendor-run.ts";
import { NO_TRUST } from "../../index-builder/signatures/trust.ts";
import { recordedExchange } from "../../index-builder/web/recorded.ts";
import type { Exchange } from "../../index-builder/web/exchange.ts";
import { openWeb } from "../../index-builder/web/web.ts";
import { debian } from "../../index-builder/vendors/debian.ts";
import { freebsd } from "../../index-builder/vendors/freebsd.ts";
import { rocky } from "../../index-builder/vendors/rocky.ts";
import type { Vendor } from "../../index-builder/vendor.ts";
import { builtFrom, RECORDED_AT, webFolder } from "./recorded-vendor.ts";
import { clearSignedOf, makeKey, NOW } from "./signed-web.ts";

const NEXT_DAY = new Date(RECORDED_AT.getTime() + 86_400_000);
type Status = {
  readonly match: RegExp;
  readonly method?: "GET" | "HEAD";
  readonly status: number;
  readonly times?: number;
};

/** Returns an exchange that answers with recorded responses, but with other statuses for some URLs. */
async function withStatus(statuses: readonly Status[], folders = [webFolder("t0")]): Promise<Exchange> {
  const web = await recordedExchange(folders);
  const left = statuses.map(({ times = Infinity }) => times);
  return (request) => {
    const index = statuses.findIndex(({ match, method }, at) =>
      left[at]! > 0 && match.test(request.url) && (method ?? request.method) === request.method
    );
    if (index < 0) return web(request);
    left[index]!--;
    return Promise.resolve({
      status: statuses[index]!.status,
      url: request.url,
      headers: new Map(),
      body: new Uint8Array(),
    });
  };
}

async function run(
  vendor: Vendor,
  statuses: readonly Status[],
  more: Partial<VendorSetting> = {},
): Promise<VendorOutcome> {
  const wait = () => Promise.resolve();
  const base = { signatures: "off", now: NEXT_DAY, previous: null, trust: null, wait } as const;
  return runVendor(vendor, { exchange: await withStatus(statuses), ...base, ...more });
}

function releasesOf(outcome: VendorOutcome): string[] {
  return outcome.ok ? outcome.tree.distro.releases.map(({ id, aliases }) => [id, ...aliases].join(" ")) : [];
}
function firstArtifact(outcome: VendorOutcome, release: string) {
  if (!outcome.ok) throw new Error(outcome.error);
  return outcome.tree.current.get(release)![0]!.artifacts[0]!;
}
const IMAGE_9 = /Rocky-9-.*\.qcow2$/;

test.each([404, 410])(
  "a release whose image answers %i is left out, and the alias latest moves to the next release",
  async (status) => {
    const outcome = await run(rocky, [{ match: /Rocky-10-.*\.qcow2$/, status }]);
    expect(releasesOf(outcome)).toEqual(["9 latest", "8"]);
    expect(outcome.notes.map(({ text }) => text).join()).toContain("10: left out");
  },
);

test("a release is left out if the document that resolves it answers 404", async () => {
  expect(releasesOf(await run(rocky, [{ match: /rocky\/9\/images\/x86_64\/$/, status: 404 }]))).toEqual([
    "10 latest",
    "8",
  ]);
});

test.each([429, 500, 503])("a vendor whose image answers %i is tried three times, then fails", async (status) => {
  const outcome = await run(rocky, [{ match: IMAGE_9, status }]);
  expect(outcome).toMatchObject({ ok: false, attempts: 3, error: expect.stringMatching(/^transient: /) });
});

test("a server that recovers at the third attempt does not fail the vendor", async () => {
  const outcome = await run(rocky, [{ match: /pub\/rocky\/$/, status: 503, times: 2 }]);
  expect([outcome.ok, outcome.attempts]).toEqual([true, 3]);
});

test("a listing that answers 403 fails the vendor at once", async () => {
  expect(await run(rocky, [{ match: /pub\/rocky\/$/, status: 403 }])).toMatchObject({
    ok: false,
    attempts: 1,
    error: expect.stringMatching(/^refused: /),
  });
});

test("an image that answers 403 keeps the size and metadata of the previous tree", async () => {
  const { outcome: first } = await builtFrom(rocky);
  const blocked = [{ match: IMAGE_9, method: "HEAD", status: 403 } as const];
  const later = await run(rocky, blocked, { previous: first.tree });
  expect(firstArtifact(later, "9")).toEqual(firstArtifact(first, "9"));
  const without = firstArtifact(await run(rocky, blocked), "9");
  expect([without.size, without.integrity!.http, without.locations[0]!.redirects_off_host]).toEqual([
    645988352,
    null,
    null,
  ]);
});

test("an image whose checksum document answers 403 keeps its digest from the previous tree, with a warning", async () => {
  const { outcome: first } = await builtFrom(rocky);
  const later = await run(rocky, [{ match: /Rocky-9-.*CHECKSUM$/, status: 403 }], { previous: first.tree });
  expect(firstArtifact(later, "9").integrity!.digests).toEqual(firstArtifact(first, "9").integrity!.digests);
  expect(later.notes.map(({ text }) => text).join()).toContain("the digest of the previous tree stays");
});

test("a newer image with unreadable checksums does not replace an image with a known digest", async () => {
  const { outcome: first } = await builtFrom(rocky);
  const previous = structuredClone(first.tree);
  const old = previous.current.get("9")![0]!;
  Object.assign(old, { build: "9.7-20251123.2" });
  old.artifacts[0]!.locations[0]!.url = "https://download.rockylinux.org/pub/rocky/9/images/x86_64/older.qcow2";
  const later = await run(rocky, [{ match: /Rocky-9-.*CHECKSUM$/, status: 403 }], { previous });
  if (!later.ok) throw new Error(later.error);
  expect(later.tree.current.get("9")).toEqual(previous.current.get("9"));
  expect(later.notes.some(({ level }) => level === "alarm")).toBe(true);
});

test("a signature that answers 404 is not published; a signature that answers 403 stays as it was", async () => {
  const { outcome: first } = await builtFrom(rocky);
  const gone = await run(rocky, [{ match: /Rocky-9-.*\.asc$/, status: 404 }], { previous: first.tree });
  expect(firstArtifact(gone, "9").integrity!.signatures).toEqual([]);
  const refused = await run(rocky, [{ match: /Rocky-9-.*\.asc$/, status: 403 }], { previous: first.tree });
  expect(firstArtifact(refused, "9").integrity!.signatures).toEqual(firstArtifact(first, "9").integrity!.signatures);
});

test("a vendor fails if endoflife.date answers 404 or 500, so that an ended release does not return", async () => {
  for (const status of [404, 500]) expect((await run(rocky, [{ match: /endoflife\.date/, status }])).ok).toBe(false);
});

// Recorded responses with more images than the default images.
const WIDE_ROCKY = ["wide/rocky", "t0"].map(webFolder);

test("images of an architecture stay in their builds while its list of files cannot be fetched", async () => {
  const { outcome: first } = await builtFrom(rocky, ["wide/rocky", "t0"]);
  const exchange = await withStatus([{ match: /9\/images\/(?:ppc64le|aarch64)\/$/, status: 503 }], WIDE_ROCKY);
  const later = await run(rocky, [], { exchange, previous: first.tree });
  if (!later.ok) throw new Error(later.error);
  expect(later.tree).toEqual(first.tree);
  expect(later.notes.map(({ text }) => text).join("\n")).toContain("Rocky Linux 9 ppc64le: skipped");
});

test("an image other than the default stays as it was if it answers 500", async () => {
  const { outcome: first } = await builtFrom(rocky, ["wide/rocky", "t0"]);
  const exchange = await withStatus([{ match: /Base-9.*aarch64\.qcow2$/, status: 500 }], WIDE_ROCKY);
  const later = await run(rocky, [], { exchange, previous: first.tree });
  expect(later.ok && later.tree).toEqual(first.tree);
});

const VAULT_IMAGE = { base: "Base-9\\.8-.*x86_64\\.qcow2", lvm: "LVM-9\\.8-.*x86_64\\.qcow2" };
test.each([
  ["the checksum list of the default image", `${VAULT_IMAGE.base}\\.CHECKSUM$`],
  ["the checksum list of another image", `${VAULT_IMAGE.lvm}\\.CHECKSUM$`],
  ["another image", `${VAULT_IMAGE.lvm}$`],
])("a point release is not archived while %s answers 404, and the next run archives it", async (_name, file) => {
  const status = { match: new RegExp(`/vault/rocky/9\\.8/.*${file}`), status: 404 };
  const without = await run(rocky, [], { exchange: await withStatus([status], WIDE_ROCKY) });
  if (!without.ok) throw new Error(without.error);
  expect(without.tree.archived.get("9")).toBeUndefined();
  const { archived } = await builtFrom(rocky, ["wide/rocky", "t0"], { previous: without.tree });
  expect(archived.get("9")!.map(({ build }) => build)).toEqual(["9.8-20260601.1"]);
  expect(archived.get("9")![0]!.artifacts.map(({ integrity }) => integrity!.digests.length)).toEqual([1, 1, 1]);
});

test("a point release of FreeBSD that answers 503 fails the vendor, so that the point release is not removed", async () => {
  const match = /14\.\d-RELEASE\/amd64\/Latest\/CHECKSUM/;
  expect(await run(freebsd, [{ match, status: 503 }])).toMatchObject({ ok: false, attempts: 3 });
});

test("an unreadable Debian suite fails the vendor, so that latest does not move to the other suite", async () => {
  for (const status of [403, 404, 500]) {
    expect((await run(debian, [{ match: /dists\/stable\/Release/, status }])).ok).toBe(false);
  }
});

test("a vendor without any release fails", async () => {
  expect(await run(rocky, [{ match: /\.qcow2$/, method: "HEAD", status: 404 }])).toMatchObject({
    ok: false,
    error: expect.stringContaining("no release"),
  });
});

test("a known build keeps its first_seen, and a new build gets the time of the run", async () => {
  const { outcome: first } = await builtFrom(rocky);
  const previous = structuredClone(first.tree);
  previous.current.get("8")![0]!.build = "8.10-20200101.0";
  const later = await run(rocky, [], { previous });
  if (!later.ok) throw new Error(later.error);
  expect(later.tree.current.get("9")![0]!.first_seen).toBe(RECORDED_AT.toISOString());
  expect(later.tree.current.get("8")![0]!.first_seen).toBe(NEXT_DAY.toISOString());
});

test("S-25: requests are sent only to hosts that the vendor's module lists", async () => {
  const foreign = { ...rocky, hosts: ["elsewhere.example"] };
  expect(await run(foreign, [])).toMatchObject({ ok: false, attempts: 1, error: expect.stringMatching(/^unsafe: /) });
});

test("the clear-signed copy of a document is read instead of the document, and an old copy raises the alarm `frozen`", async () => {
  const key = await makeKey();
  const twin = await clearSignedOf(`{"from":"twin"}`, key, { date: new Date("2026-08-01T00:00:00Z") });
  const bodies: Record<string, string> = {
    "/feed.json": `{"from":"plain"}`,
    "/feed.sjson": twin,
    "/key": key.publicKey.armor(),
  };
  const exchange: Exchange = ({ url }) => {
    const body = new TextEncoder().encode(bodies[new URL(url).pathname]);
    return Promise.resolve({ status: 200, url, headers: new Map(), body });
  };
  const notes = newNotes();
  const documents = openDocuments({
    web: openWeb(exchange, () => true),
    signatures: "check",
    before: NO_TRUST,
    notes,
    now: NOW,
  });
  const text = await documents.text("https://feed.example/feed.json", {
    signature: {
      kind: "pgp_clearsigned",
      twin: "https://feed.example/feed.sjson",
      key: { key_url: "https://feed.example/key", fingerprints: [key.fingerprint] },
    },
    stale_after_days: 60,
  });
  expect(text).toBe(`{"from":"twin"}`);
  expect(notes.all).toEqual([{ level: "alarm", text: expect.stringContaining("frozen") }]);
});
