// Tests the signatures of vendors. A vendor signs the image itself or a list of hashes, and the signature of a list is
// in its own file or in the list.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as openpgp from "openpgp";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { fingerprintIn } from "../../../cli/image/vendor-check.ts";
import type { Signature } from "../../../cli/image/model.ts";
import { filesIn, newFolder } from "./folder.ts";
import { tenantctl } from "./tenantctl.ts";
import { CONTENT, IMAGE_PATH, startVendor, SUMS_PATH, type Vendor } from "./vendor.ts";

type KeyPair = { readonly secret: openpgp.PrivateKey; readonly armored: string; readonly fingerprint: string };

let mine: KeyPair;
let another: KeyPair;
let expired: KeyPair;
let vendor: Vendor;
let to: string;

beforeAll(async () => {
  mine = await newKey();
  another = await newKey();
  expired = await newKey({ date: new Date(Date.now() - 7_200_000), keyExpirationTime: 3_600 });
});
beforeEach(async () => {
  vendor = await startVendor();
  to = newFolder();
});
afterEach(() => vendor.close());

async function newKey(change: { date?: Date; keyExpirationTime?: number } = {}): Promise<KeyPair> {
  const { privateKey, publicKey } = await openpgp.generateKey({
    type: "ecc",
    userIDs: [{ name: "Vendor", email: "images@vendor.example" }],
    format: "object",
    ...change,
  });
  return { secret: privateKey, armored: publicKey.armor(), fingerprint: publicKey.getFingerprint().toUpperCase() };
}

async function signed(content: Uint8Array, key: KeyPair, date?: Date): Promise<string> {
  const message = await openpgp.createMessage({ binary: content });
  return await openpgp.sign({ message, signingKeys: key.secret, detached: true, ...(date && { date }) }) as string;
}

function sign(signature: Partial<Signature>): void {
  const { artifact } = vendor;
  const whole = { kind: "pgp_detached", key_url: `${vendor.base}/key.asc`, signs: "", url: "", ...signature };
  vendor.artifact = { ...artifact, integrity: { ...artifact.integrity, signatures: [whole] } };
}

/** Publishes SHA256SUMS.gpg, a signature of SHA256SUMS by `key`, and the public key of `published`. */
async function signList(key: KeyPair, published: KeyPair, date?: Date): Promise<void> {
  const signature = await signed(vendor.files.get(SUMS_PATH)!, key, date);
  const url = vendor.put(`${SUMS_PATH}.gpg`, signature);
  vendor.put("/key.asc", published.armored);
  sign({ signs: vendor.base + SUMS_PATH, url });
}

function download(argv: readonly string[] = []) {
  const fixed = ["image", "download", "ubuntu/noble", "--index", vendor.base, "--to", to, "--signature"];
  return tenantctl([...fixed, ...argv]);
}

const pinned = (...keys: KeyPair[]) => keys.flatMap(({ fingerprint }) => ["--fingerprint", fingerprint]);

test("a signed list of hashes proves the image", async () => {
  await signList(mine, mine);
  const ran = await download(pinned(mine));
  expect(ran.code).toBe(0);
  expect(JSON.parse(ran.out()).signed_by).toEqual([{
    fingerprint: mine.fingerprint,
    signed_at: expect.stringMatching(/^\d{4}-/),
    signature_url: `${vendor.base}${SUMS_PATH}.gpg`,
  }]);
});

test("a key that only the index names is rejected; the error names the options that accept the key", async () => {
  await signList(mine, mine);
  const ran = await download();
  expect(ran.code).toBe(1);
  expect(ran.err()).toContain(`only the index says that ${mine.fingerprint} is the vendor's key`);
  expect(ran.err()).toContain(`--fingerprint ${mine.fingerprint}`);
  expect(vendor.asked.some((line) => line.startsWith(IMAGE_PATH))).toBe(false);
  expect((await download(pinned(mine))).code).toBe(0);
});

test("if --fingerprint is repeated, the key may have any one of the fingerprints", async () => {
  await signList(mine, mine);
  expect((await download(pinned(another, mine))).code).toBe(0);
});

test("--fingerprint accepts 0x, spaces and lower case, and rejects a key with another fingerprint", async () => {
  await signList(mine, mine);
  const spelled = `0x${mine.fingerprint.toLowerCase().replace(/(.{4})/g, "$1 ")}`;
  const ran = await download(["--fingerprint", spelled]);
  expect(ran.err()).toBe("");
  expect(JSON.parse(ran.out()).signed_by[0].fingerprint).toBe(mine.fingerprint);
  to = newFolder();
  const refused = await download(["--fingerprint", another.fingerprint]);
  expect(refused.code).toBe(1);
  expect(refused.err()).toContain("does not have the key");
  expect(refused.err()).toContain(mine.fingerprint);
});

test("the user's key file replaces the key in the index", async () => {
  await signList(mine, another);
  const key = join(to, "vendor.asc");
  writeFileSync(key, mine.armored);
  expect((await download()).code).toBe(1);
  const ran = await download(["--key", key]);
  expect(ran.code).toBe(0);
  expect(JSON.parse(ran.out()).signed_by[0].fingerprint).toBe(mine.fingerprint);
});

test("a binary key file is accepted", async () => {
  await signList(mine, another);
  const key = join(to, "vendor.gpg");
  writeFileSync(key, (await openpgp.readKey({ armoredKey: mine.armored })).write());
  expect((await download(["--key", key])).code).toBe(0);
});

test.each([
  ["by another key", () => signList(another, mine)],
  ["by a key that has expired", () => signList(expired, expired, new Date(Date.now() - 7_000_000))],
  ["over another text", async () => {
    await signList(mine, mine);
    const text = new TextDecoder().decode(vendor.files.get(SUMS_PATH));
    vendor.put(SUMS_PATH, `${text}# one more line\n`);
  }],
  ["that is missing", async () => {
    await signList(mine, mine);
    vendor.files.delete(`${SUMS_PATH}.gpg`);
  }],
  ["that is an error page", async () => {
    await signList(mine, mine);
    vendor.put(`${SUMS_PATH}.gpg`, "<html></html>");
  }],
  ["whose key is missing", async () => {
    await signList(mine, mine);
    vendor.files.delete("/key.asc");
  }],
])("a signature %s is rejected before the download", async (_name, prepare) => {
  await prepare();
  // The test trusts all keys, so the reason for the rejection is never an untrusted key.
  const ran = await download(pinned(mine, another, expired));
  expect(ran.code).not.toBe(0);
  expect(vendor.asked.some((line) => line.startsWith(IMAGE_PATH))).toBe(false);
  expect(filesIn(to)).toEqual([]);
});

test("an unsigned image is rejected with --signature", async () => {
  const ran = await download();
  expect(ran.code).toBe(1);
  expect(ran.err()).toContain("the index has no signature");
});

test("with --trust-index the client still checks the signature and the signed list", async () => {
  await signList(another, mine);
  expect((await download(["--trust-index", ...pinned(mine, another)])).err()).toContain("signature rejected");
  vendor.put(SUMS_PATH, `${"0".repeat(64)} *noble-amd64.qcow2\n`);
  await signList(mine, mine);
  const ran = await download(["--trust-index", ...pinned(mine)]);
  expect(ran.code).toBe(1);
  expect(ran.err()).toContain("the vendor and the index disagree");
});

test("the client reads only the signed text of a clear-signed list", async () => {
  const text = `SHA256 (noble-amd64.qcow2) = ${vendor.artifact.integrity!.digests![0]!.value}`;
  const message = await openpgp.createCleartextMessage({ text });
  const document = await openpgp.sign({ message, signingKeys: mine.secret });
  const url = vendor.put("/CHECKSUM", document);
  vendor.put("/key.asc", mine.armored);
  const { artifact } = vendor;
  const digest = artifact.integrity!.digests![0]!;
  const source = { url, format: "bsd", filename: "noble-amd64.qcow2" };
  vendor.artifact = { ...artifact, integrity: { digests: [{ ...digest, source }] } };
  sign({ kind: "pgp_clearsigned", signs: url, url });
  expect((await download(pinned(mine))).code).toBe(0);
  to = newFolder();

  vendor.put("/CHECKSUM", document.replace(digest.value, "0".repeat(64)));
  expect((await download(["--trust-index", ...pinned(mine)])).err()).toContain("signature rejected");
  const unsigned = `${"0".repeat(64)}  other\n`;
  vendor.put("/CHECKSUM", unsigned + document);
  expect((await download(["--trust-index", ...pinned(mine)])).err()).toContain("signature rejected");
  expect(filesIn(to)).toEqual([]);
});

test("the client checks a signature of the image itself with the downloaded bytes", async () => {
  const url = vendor.put(`${IMAGE_PATH}.sig`, await signed(CONTENT, mine));
  vendor.put("/key.asc", mine.armored);
  sign({ signs: vendor.base + IMAGE_PATH, url });
  const unpinned = await download();
  expect([unpinned.code, unpinned.err()]).toEqual([1, expect.stringContaining(mine.fingerprint)]);
  expect(vendor.asked.some((line) => line.split(" ")[0] === IMAGE_PATH)).toBe(false);
  const ran = await download(pinned(mine));
  expect(ran.code).toBe(0);
  expect(JSON.parse(ran.out()).signed_by[0].fingerprint).toBe(mine.fingerprint);

  to = newFolder();
  vendor.put(`${IMAGE_PATH}.sig`, await signed(CONTENT.subarray(1), mine));
  const refused = await download(pinned(mine));
  expect(refused.code).toBe(1);
  expect(refused.err()).toContain("signature rejected");
  expect(filesIn(to).filter((path) => !path.includes(".part/"))).toEqual([]);
});

test("`verify --signature` checks an existing file", async () => {
  await signList(mine, mine);
  const file = join(to, "any-name.img");
  writeFileSync(file, CONTENT);
  const argv = ["image", "verify", file, "--index", vendor.base, "--signature"];
  const ran = await tenantctl([...argv, "--fingerprint", mine.fingerprint]);
  expect(ran.code).toBe(0);
  expect(JSON.parse(ran.out())).toMatchObject({ image: "ubuntu/noble/20261001", digest_from: "vendor" });
  expect((await tenantctl([...argv, "--fingerprint", another.fingerprint])).code).toBe(1);
});

test.each([["--key", "x"], ["--fingerprint", "0".repeat(40)]])(
  "%s without --signature is a usage error",
  async (...argv) => {
    expect((await tenantctl(["image", "verify", "x", "--index", vendor.base, ...argv])).code).toBe(2);
  },
);

test("--no-verify and --signature exclude each other", async () => {
  expect((await download(["--no-verify"])).code).toBe(2);
});

test("a short key id is not accepted as a fingerprint", async () => {
  expect((await download(["--fingerprint", "D94AA3F0EFE21092"])).code).toBe(2);
});

test("a key is not trusted if only the index names it, even if the URL of its key server has its fingerprint", async () => {
  await signList(mine, mine);
  vendor.put(`/lookup?op=get&search=0x${mine.fingerprint}`, mine.armored);
  const [signature] = vendor.artifact.integrity!.signatures!;
  sign({ ...signature, key_url: `${vendor.base}/lookup?op=get&search=0x${mine.fingerprint}` });
  const ran = await download();
  expect([ran.code, ran.err()]).toEqual([1, expect.stringContaining(`only the index says that ${mine.fingerprint}`)]);
  expect((await download(pinned(mine))).code).toBe(0);
});

test("the URL of a key server selects the key with the fingerprint in the URL; other URLs select no key", () => {
  const fingerprint = "D2EB44626FDDC30B513D5BB71A5D6C4C7DB87C81";
  expect(fingerprintIn(`https://keys.example/pks/lookup?op=get&search=0x${fingerprint}`)).toBe(fingerprint);
  expect(fingerprintIn(`https://keys.example/pks/lookup?op=get&search=0x${fingerprint.slice(0, 16)}`)).toBeNull();
  expect(fingerprintIn(`https://keys.example/${fingerprint}.asc`)).toBeNull();
});
