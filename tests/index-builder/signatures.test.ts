import { existsSync } from "node:fs";
import * as openpgp from "openpgp";
import { openDocuments } from "../../index-builder/build/documents.ts";
import { newNotes } from "../../index-builder/build/report.ts";
import { NO_TRUST, type VendorTrust } from "../../index-builder/signatures/trust.ts";
import type { ChecksumDocument, Vendor } from "../../index-builder/vendor.ts";
import { VENDORS } from "../../index-builder/vendors/all.ts";
import { openWeb } from "../../index-builder/web/web.ts";
import { builtFrom, webFolder } from "./recorded-vendor.ts";
import { beforeAll, expect, test } from "vitest";
import {
  type Bodies,
  clearSignedOf,
  detachedOf,
  hashOf,
  KEY_URL,
  type KeyPair,
  type Kind,
  makeKey,
  NOW,
  ROOT,
  run,
  sha1Signature,
  SIGNED_AT,
  signedVendor,
  sumsOf,
  webOf,
} from "./signed-web.ts";

const GOOD = sumsOf(hashOf("the image"));
const EVIL = sumsOf(hashOf("another image"));
let vendor: KeyPair, stranger: KeyPair, expired: KeyPair, weak: KeyPair, old: KeyPair;
let revoked: openpgp.PublicKey;

beforeAll(async () => {
  [vendor, stranger, expired, weak, old] = await Promise.all([
    makeKey(),
    makeKey(),
    // The key is valid when the vendor signs, and has expired when the builder checks the signature.
    makeKey({ date: new Date("2026-10-01T00:00:00Z"), keyExpirationTime: 8 * 86_400 }),
    makeKey({ type: "rsa", rsaBits: 1024, config: { minRSABits: 1023 } }),
    // An RSA key, because elliptic curves require a longer hash than SHA-1.
    makeKey({ type: "rsa", rsaBits: 2048 }),
  ]);
  revoked = (await openpgp.revokeKey({
    key: vendor.publicKey,
    revocationCertificate: vendor.revocationCertificate,
    format: "object",
  })).publicKey;
});

async function digestsFrom(
  kind: Kind,
  bodies: Bodies,
  pinned = [vendor.fingerprint, old.fingerprint],
  mode: "check" | "require" = "check",
) {
  const outcome = await run(
    signedVendor(kind, pinned),
    webOf({ key: `${vendor.publicKey.armor()}\n${old.publicKey.armor()}`, ...bodies }),
    {
      signatures: mode,
    },
  );
  if (!outcome.ok) return outcome.error;
  const artifact = outcome.tree.current.get("9")?.[0]?.artifacts[0];
  return artifact?.integrity?.digests.map(({ value }) => value) ?? [];
}

test("a good detached signature is accepted in armored and in binary form", async () => {
  const armored = await detachedOf(GOOD, vendor);
  const binary = (await openpgp.unarmor(armored)).data as Uint8Array;
  for (const signature of [armored, binary]) {
    const found = await digestsFrom("pgp_detached", { SHA256SUMS: GOOD, "SHA256SUMS.asc": signature });
    expect(found).toEqual([hashOf("the image")]);
  }
});

test("a good clear-signed document is accepted, and the builder reads its signed text", async () => {
  expect(await digestsFrom("pgp_clearsigned", { SHA256SUMS: await clearSignedOf(GOOD, vendor) })).toEqual([
    hashOf("the image"),
  ]);
});

test("a signature with SHA-256 by an RSA key is accepted", async () => {
  const signature = await detachedOf(GOOD, old);
  expect(await digestsFrom("pgp_detached", { SHA256SUMS: GOOD, "SHA256SUMS.asc": signature })).toEqual([
    hashOf("the image"),
  ]);
});

test("a signature with SHA-1 is refused, and the error names SHA-1", async () => {
  const bodies = { SHA256SUMS: GOOD, "SHA256SUMS.asc": await sha1Signature(GOOD, old) };
  expect(await digestsFrom("pgp_detached", bodies)).toMatch(/^untrusted: .*sha1/i);
});

test("a document is refused if an earlier run saw its signature and the signature is now missing", async () => {
  const subject = signedVendor("pgp_detached", [vendor.fingerprint]);
  const key = vendor.publicKey.armor();
  const first = await run(subject, webOf({ key, SHA256SUMS: GOOD, "SHA256SUMS.asc": await detachedOf(GOOD, vendor) }));
  if (!first.ok) throw new Error(first.error);
  const without = webOf({ key, SHA256SUMS: EVIL, "SHA256SUMS.asc": 404 });
  const second = await run(subject, without, { trust: first.trust, previous: first.tree });
  expect(second.ok ? "accepted" : second.error).toMatch(/^untrusted: .*existed in an earlier run and is missing now/);
});

test("one good signature among signatures of unknown keys is enough", async () => {
  const signature = await detachedOf(GOOD, stranger, { signingKeys: [stranger.privateKey, vendor.privateKey] });
  expect(await digestsFrom("pgp_detached", { SHA256SUMS: GOOD, "SHA256SUMS.asc": signature })).toEqual([
    hashOf("the image"),
  ]);
});

test("only the pinned key of a key file counts", async () => {
  const ring = `${stranger.publicKey.armor()}\n${vendor.publicKey.armor()}`;
  const bodies = { key: ring, SHA256SUMS: GOOD, "SHA256SUMS.asc": await detachedOf(GOOD, stranger) };
  expect(await digestsFrom("pgp_detached", bodies)).toMatch(/^untrusted: .*signature refused/);
});

const REFUSED: readonly (readonly [string, Kind, () => Promise<Bodies>])[] = [
  [
    "by another key",
    "pgp_detached",
    async () => ({ SHA256SUMS: GOOD, "SHA256SUMS.asc": await detachedOf(GOOD, stranger) }),
  ],
  [
    "over other data",
    "pgp_detached",
    async () => ({ SHA256SUMS: EVIL, "SHA256SUMS.asc": await detachedOf(GOOD, vendor) }),
  ],
  ["from the future", "pgp_detached", async () => ({
    SHA256SUMS: GOOD,
    "SHA256SUMS.asc": await detachedOf(GOOD, vendor, { date: new Date("2027-01-01T00:00:00Z") }),
  })],
  ["in a file with two armored blocks", "pgp_detached", async () => {
    const [first, second] = [await detachedOf(EVIL, stranger), await detachedOf(GOOD, vendor)];
    return { SHA256SUMS: GOOD, "SHA256SUMS.asc": `${first}\n${second}` };
  }],
  [
    "of another file format",
    "pgp_detached",
    () => Promise.resolve({ SHA256SUMS: GOOD, "SHA256SUMS.asc": "<html>404</html>" }),
  ],
  ["that is empty", "pgp_detached", () => Promise.resolve({ SHA256SUMS: GOOD, "SHA256SUMS.asc": "" })],
  [
    "by another key in a clear-signed document",
    "pgp_clearsigned",
    async () => ({ SHA256SUMS: await clearSignedOf(GOOD, stranger) }),
  ],
  ["in a clear-signed document whose text was changed afterwards", "pgp_clearsigned", async () => ({
    SHA256SUMS: (await clearSignedOf(GOOD, vendor)).replace(hashOf("the image"), hashOf("another image")),
  })],
  [
    "with text before it",
    "pgp_clearsigned",
    async () => ({ SHA256SUMS: `${EVIL}${await clearSignedOf(GOOD, vendor)}` }),
  ],
  [
    "with text after it",
    "pgp_clearsigned",
    async () => ({ SHA256SUMS: `${await clearSignedOf(GOOD, vendor)}${EVIL}` }),
  ],
  ["with a second block after it", "pgp_clearsigned", async () => ({
    SHA256SUMS: `${await clearSignedOf(GOOD, vendor)}\n${await clearSignedOf(EVIL, stranger)}`,
  })],
  ["with a block of an unknown key before it", "pgp_clearsigned", async () => ({
    SHA256SUMS: `${await clearSignedOf(EVIL, stranger)}\n${await clearSignedOf(GOOD, vendor)}`,
  })],
  ["with text hidden behind a form feed", "pgp_clearsigned", async () => ({
    SHA256SUMS: (await clearSignedOf(GOOD, vendor)).replace("\n\n", `\n\f\n${EVIL}\n`),
  })],
  ["with text hidden among the headers", "pgp_clearsigned", async () => ({
    SHA256SUMS: (await clearSignedOf(GOOD, vendor)).replace("\n\n", `\n${EVIL.trimEnd()}\n\n`),
  })],
  ["with a line separator (U+2028) in its text", "pgp_clearsigned", async () => ({
    SHA256SUMS: await clearSignedOf(`x\u2028${EVIL}`, vendor),
  })],
];

test.each(REFUSED)("S-30: a signature %s is refused", async (_, kind, bodies) => {
  expect(await digestsFrom(kind, await bodies())).toMatch(/^untrusted: /);
});

test("S-30: a document without a signature is refused if it must be clear-signed", async () => {
  expect(await digestsFrom("pgp_clearsigned", { SHA256SUMS: GOOD })).toMatch(/^untrusted: /);
});

test("expired, revoked and weak keys are refused, although they are pinned", async () => {
  const cases = [
    { by: expired, key: expired.publicKey },
    { by: vendor, key: revoked },
    { by: weak, key: weak.publicKey },
  ];
  for (const { by, key } of cases) {
    const config = by === weak ? { config: { minRSABits: 1023 } } : {};
    const date = new Date("2026-10-05T00:00:00Z");
    const signature = await detachedOf(GOOD, by, { date, ...config });
    const bodies = { key: key.armor(), SHA256SUMS: GOOD, "SHA256SUMS.asc": signature };
    expect(await digestsFrom("pgp_detached", bodies, [by.fingerprint])).toMatch(/^untrusted: /);
  }
});

test("a key is refused if it was retired, or its signing subkey expired, after the signature was made", async () => {
  const date = new Date("2026-10-01T00:00:00Z");
  const subkey = await makeKey({ date, subkeys: [{ sign: true, keyExpirationTime: 8 * 86_400 }] });
  const retired = await makeKey({ date });
  const { publicKey } = await openpgp.revokeKey({
    key: retired.privateKey,
    reasonForRevocation: { flag: openpgp.enums.reasonForRevocation.keyRetired },
    date: new Date("2026-10-08T00:00:00Z"),
    format: "object",
  });
  for (const { by, key } of [{ by: subkey, key: subkey.publicKey }, { by: retired, key: publicKey }]) {
    const signature = await detachedOf(GOOD, by, { date: new Date("2026-10-05T00:00:00Z") });
    const bodies = { key: key.armor(), SHA256SUMS: GOOD, "SHA256SUMS.asc": signature };
    expect(await digestsFrom("pgp_detached", bodies, [by.fingerprint])).toMatch(/^untrusted: .*expired or is revoked/);
  }
});

test("a key file with another key than the pinned key is refused", async () => {
  const bodies = {
    key: stranger.publicKey.armor(),
    SHA256SUMS: GOOD,
    "SHA256SUMS.asc": await detachedOf(GOOD, stranger),
  };
  expect(await digestsFrom("pgp_detached", bodies)).toMatch(/^untrusted: .*none of the pinned keys/);
});

test("a key that cannot be fetched is a warning in mode check, and a refusal in mode require", async () => {
  const bodies = { key: 404, SHA256SUMS: GOOD, "SHA256SUMS.asc": await detachedOf(GOOD, stranger) };
  expect(await digestsFrom("pgp_detached", bodies)).toEqual([hashOf("the image")]);
  expect(await digestsFrom("pgp_detached", bodies, [vendor.fingerprint], "require")).toMatch(
    /^untrusted: .*cannot be checked/,
  );
});

test("a signature without a pinned key is a warning in mode check; in mode require its release stays as it was", async () => {
  const web = async (text: string) =>
    webOf({ key: vendor.publicKey.armor(), SHA256SUMS: text, "SHA256SUMS.asc": await detachedOf(text, vendor) });
  const subject = signedVendor("pgp_detached", []);
  const checked = await run(subject, await web(GOOD));
  if (!checked.ok) throw new Error(checked.error);
  expect(checked.notes).toMatchObject([{ level: "warning", text: expect.stringContaining("no key is pinned") }]);
  const required = await run(subject, await web(EVIL), { signatures: "require", previous: checked.tree });
  if (!required.ok) throw new Error(required.error);
  expect(required.tree).toEqual(checked.tree);
  expect(required.notes).toMatchObject([{ level: "alarm", text: expect.stringContaining("9: kept unchanged") }]);
});

test("in mode require, a release without a pinned key is left out, and the other releases are published", async () => {
  const [pinned, unpinned] = [signedVendor("pgp_detached", [vendor.fingerprint]), signedVendor("pgp_detached", [])];
  const both: Vendor = {
    ...pinned,
    list: async (visit) => {
      const [newer] = await unpinned.list(visit);
      return [{ ...newer!, token: "10", version: "10", title: "Signed 10" }, ...await pinned.list(visit)];
    },
  };
  const web = webOf({
    key: vendor.publicKey.armor(),
    SHA256SUMS: GOOD,
    "SHA256SUMS.asc": await detachedOf(GOOD, vendor),
  });
  const outcome = await run(both, web, { signatures: "require" });
  if (!outcome.ok) throw new Error(outcome.error);
  expect(outcome.tree.distro.releases.map(({ id, aliases }) => [id, aliases])).toEqual([["9", ["latest"]]]);
  expect(outcome.notes).toMatchObject([{ level: "alarm", text: expect.stringContaining("10: left out") }]);
});

test("in mode require, an archived build without a pinned key is left out with a warning, and the current build is published", async () => {
  const subject = signedVendor("pgp_detached", [vendor.fingerprint]);
  const unpinned = signedVendor("pgp_detached", []);
  const withVault: Vendor = {
    ...subject,
    list: async (visit) => {
      const [candidate] = await subject.list(visit);
      const archive = async () => {
        const { builds: [build] } = await (await unpinned.list(visit))[0]!.resolve();
        return [{ point_release: "8.9", resolve: () => Promise.resolve({ ...build!, build: "8.9-1" }) }];
      };
      return [{ ...candidate!, resolve: async () => ({ ...await candidate!.resolve(), archive }) }];
    },
  };
  const web = webOf({
    key: vendor.publicKey.armor(),
    SHA256SUMS: GOOD,
    "SHA256SUMS.asc": await detachedOf(GOOD, vendor),
  });
  const required = await run(withVault, web, { signatures: "require" });
  if (!required.ok) throw new Error(required.error);
  expect([required.tree.current.get("9")?.length, required.tree.archived.size]).toEqual([1, 0]);
  expect(required.notes).toMatchObject([{ level: "warning", text: expect.stringContaining("no key is pinned") }]);
  const checked = await run(withVault, web);
  expect(checked.ok && checked.tree.archived.get("9")?.map(({ build }) => build)).toEqual(["8.9-1"]);
});

test("if the key's URL fails, the key of an earlier run is used, so a bad signature is still refused", async () => {
  const first = await run(
    signedVendor("pgp_detached", [vendor.fingerprint]),
    webOf({ key: vendor.publicKey.armor(), SHA256SUMS: GOOD, "SHA256SUMS.asc": await detachedOf(GOOD, vendor) }),
  );
  if (!first.ok) throw new Error(first.error);
  const later = await run(
    signedVendor("pgp_detached", [vendor.fingerprint]),
    webOf({ key: 503, SHA256SUMS: EVIL, "SHA256SUMS.asc": await detachedOf(EVIL, stranger) }),
    { trust: first.trust, previous: first.tree },
  );
  expect(later.ok ? "accepted" : later.error).toMatch(/^untrusted: /);
});

test("S-31: an older signed document is refused as a rollback, a newer document is accepted, and the state keeps the newest date", async () => {
  const key = vendor.publicKey.armor();
  const signed = async (text: string, date: Date) =>
    webOf({ key, SHA256SUMS: text, "SHA256SUMS.asc": await detachedOf(text, vendor, { date }) });
  const subject = signedVendor("pgp_detached", [vendor.fingerprint]);
  const first = await run(subject, await signed(GOOD, SIGNED_AT));
  if (!first.ok) throw new Error(first.error);
  expect(Object.values(first.trust.documents).map(({ signed_at }) => signed_at)).toEqual([SIGNED_AT.toISOString()]);
  const second_before = new Date(SIGNED_AT.getTime() - 1_000);
  const older = await run(subject, await signed(GOOD, second_before), { trust: first.trust, previous: first.tree });
  expect(older.ok ? "accepted" : older.error).toMatch(/^untrusted: .*rollback to an older document/);
  const same = await run(subject, await signed(GOOD, SIGNED_AT), { trust: first.trust, previous: first.tree });
  expect(same.ok && same.trust).toEqual(first.trust);
  const newer = await run(subject, await signed(GOOD, NOW), { trust: first.trust, previous: first.tree });
  expect(newer.ok && Object.values(newer.trust.documents)[0]?.signed_at).toBe(NOW.toISOString());
});

test("an older document of one architecture is not a rollback, because each architecture has its own series", async () => {
  const web = openWeb(
    webOf({
      key: vendor.publicKey.armor(),
      NEW: GOOD,
      "NEW.asc": await detachedOf(GOOD, vendor),
      OLD: EVIL,
      "OLD.asc": await detachedOf(EVIL, vendor, { date: new Date(SIGNED_AT.getTime() - 86_400_000) }),
    }),
    () => true,
  );
  const key = { key_url: KEY_URL, fingerprints: [vendor.fingerprint] };
  const reading = (name: string, series: string) => ({
    url: `${ROOT}${name}`,
    options: { signature: { kind: "pgp_detached" as const, url: `${ROOT}${name}.asc`, key }, series },
  });
  const readAll = async (before: VendorTrust, names: readonly (readonly [string, string])[]) => {
    const documents = openDocuments({ web, signatures: "check", before, notes: newNotes(), now: NOW });
    for (const [name, series] of names) {
      const { url, options } = reading(name, series);
      await documents.text(url, options);
    }
    return documents.trust();
  };
  const first = await readAll(NO_TRUST, [["NEW", "amd64"], ["NEW", "arm64"], ["OLD", "riscv64"]]);
  expect(Object.keys(first.documents)).toEqual(["amd64", "arm64", "riscv64"]);
  expect(await readAll(first, [["OLD", "riscv64"], ["NEW", "arm64"], ["NEW", "amd64"]])).toEqual(first);
  // A document is compared with the series for which it is read, even if it was read before for another series.
  await expect(readAll(first, [["OLD", "riscv64"], ["OLD", "arm64"]])).rejects.toThrow("rollback to an older document");
});

test.each(VENDORS.map(({ id }) => id))("%s: no two documents of one run belong to the same series", async (id) => {
  const addresses = new Map<string, Set<string>>();
  const note = ({ url, series }: ChecksumDocument) => {
    const name = series ?? url;
    addresses.set(name, (addresses.get(name) ?? new Set()).add(url));
  };
  const found = VENDORS.find((known) => known.id === id)!;
  const watched: Vendor = {
    ...found,
    list: async (visit) => {
      const candidates = await found.list(visit);
      return candidates.map((candidate) => ({
        ...candidate,
        resolve: async () => {
          const resolved = await candidate.resolve();
          for (const { checksum } of resolved.builds.flatMap(({ artifacts }) => artifacts)) {
            if (checksum !== null && "document" in checksum) note(checksum.document);
          }
          return resolved;
        },
      }));
    },
  };
  const wide = existsSync(webFolder(`wide/${id}`)) ? [`wide/${id}`] : [];
  await builtFrom(watched, [...wide, "t0"]);
  for (const [series, urls] of addresses) expect([series, ...urls]).toHaveLength(2);
});

test("an image whose bytes changed under the same build id raises an alarm, and the release stays as it was", async () => {
  const subject = signedVendor("pgp_detached", [vendor.fingerprint]);
  const web = async (text: string) =>
    webOf({ key: vendor.publicKey.armor(), SHA256SUMS: text, "SHA256SUMS.asc": await detachedOf(text, vendor) });
  const first = await run(subject, await web(GOOD));
  if (!first.ok) throw new Error(first.error);
  const second = await run(subject, await web(EVIL), { previous: first.tree, trust: first.trust });
  if (!second.ok) throw new Error(second.error);
  expect(second.tree.current).toEqual(first.tree.current);
  const accepted = await run(subject, await web(EVIL), {
    previous: first.tree,
    trust: first.trust,
    accept_changes: true,
  });
  expect(accepted.ok && accepted.tree.current.get("9")![0]!.artifacts[0]!.integrity!.digests[0]!.value).toBe(
    hashOf("another image"),
  );
  expect(second.notes.filter(({ level }) => level === "alarm").map(({ text }) => text).join()).toContain(
    "the sha256 changed",
  );
});
