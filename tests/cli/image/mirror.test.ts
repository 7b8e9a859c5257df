// A mirror is a complete index that works without any other server.
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as openpgp from "openpgp";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkFiles } from "../../../index-builder/tree/check.ts";
import { readFiles } from "../../../index-builder/tree/load.ts";
import { openapiText } from "../../../index-builder/tree/openapi.ts";
import { startFileServer } from "./file-server.ts";
import { filesIn, newFolder } from "./folder.ts";
import { tenantctl } from "./tenantctl.ts";
import { CONTENT, IMAGE_PATH, pattern, startVendor, SUMS_PATH, type Vendor } from "./vendor.ts";

const NOBLE = "images/ubuntu/noble/20261001/server-x86_64-qcow2/noble-amd64.qcow2";
const ARM = "images/ubuntu/noble/20261001/server-aarch64-qcow2/noble-arm64.qcow2";
const ALPINE = "images/alpine/v3.24/3.24.2-r0/server-x86_64-qcow2/alpine.qcow2";

let vendor: Vendor;
let to: string;
beforeEach(async () => {
  vendor = await startVendor();
  vendor.put("/v1/openapi.json", openapiText());
  to = newFolder();
});
afterEach(() => vendor.close());

function mirror(...argv: string[]) {
  return tenantctl(["image", "mirror", "--index", vendor.base, "--to", to, ...argv]);
}

async function signList(): Promise<string> {
  const { privateKey, publicKey } = await openpgp.generateKey({ userIDs: [{ name: "Vendor" }], format: "object" });
  const message = await openpgp.createMessage({ binary: vendor.files.get(SUMS_PATH)! });
  const url = vendor.put(`${SUMS_PATH}.gpg`, await openpgp.sign({ message, signingKeys: privateKey, detached: true }));
  const key_url = vendor.put("/key.asc", publicKey.armor());
  const { artifact } = vendor;
  const signature = { url, kind: "pgp_detached", signs: vendor.base + SUMS_PATH, key_url };
  vendor.artifact = { ...artifact, integrity: { ...artifact.integrity, signatures: [signature] } };
  return publicKey.getFingerprint();
}

test("`mirror` copies every document, every file and the vendors' checksums and signatures", async () => {
  const ran = await mirror();
  expect(ran.code).toBe(0);
  expect(JSON.parse(ran.out())).toMatchObject({ images: 2, files: 3, files_fetched: 3, removed: [] });
  const files = filesIn(to);
  expect(files.filter((path) => path.startsWith("images/"))).toEqual([ALPINE, ARM, NOBLE]);
  expect(files.filter((path) => path.startsWith("documents/"))).toHaveLength(2);
  expect(files.filter((path) => path.startsWith("v1/"))).toEqual([
    "v1/distros/alpine/aliases/latest.json",
    "v1/distros/alpine/index.json",
    "v1/distros/alpine/releases/v3.24/index.json",
    "v1/distros/ubuntu/aliases/latest.json",
    "v1/distros/ubuntu/aliases/lts.json",
    "v1/distros/ubuntu/index.json",
    "v1/distros/ubuntu/releases/noble/index.json",
    "v1/images.json",
    "v1/index.json",
    "v1/openapi.json",
  ]);
  expect(readFileSync(join(to, NOBLE)).equals(CONTENT)).toBe(true);
});

test("a filtered mirror passes the index builder's checks, except for web pages", async () => {
  // The builder's check rejects loopback addresses, so this test replaces them.
  const ran = await mirror("--arch", "x86_64", "--distro", "ubuntu");
  expect(ran.code).toBe(0);
  rmSync(join(to, "images"), { recursive: true });
  rmSync(join(to, "documents"), { recursive: true });
  const files = new Map(
    [...await readFiles(to)].map(([path, text]) => [path, text.replaceAll(vendor.base, "https://vendor.example")]),
  );
  const pages = { page: () => "", docs: () => "" };
  expect(checkFiles(files, { pages, hosts: new Map() })).toEqual([
    "docs/index.html: is missing",
    "index.html: is missing",
  ]);
  const { images } = JSON.parse(files.get("v1/images.json")!);
  expect(images).toHaveLength(1);
  expect(images[0].build.artifacts.map(({ arch }: { arch: string }) => arch)).toEqual(["x86_64"]);
});

test("search, download and signature checks work from the folder without the vendor", async () => {
  const fingerprint = await signList();
  const pin = ["--signature", "--fingerprint", fingerprint];
  expect((await mirror("--distro", "ubuntu", "--arch", "x86_64", ...pin)).code).toBe(0);
  await vendor.close();
  const target = newFolder();
  const got = await tenantctl(["image", "download", "ubuntu/lts", "--index", to, "--to", target, ...pin]);
  expect(got.err()).toBe("");
  expect(JSON.parse(got.out())).toMatchObject({ from: join(to, NOBLE), digest_from: "vendor" });
  const file = join(target, "noble-amd64.qcow2");
  expect(readFileSync(file).equals(CONTENT)).toBe(true);
  expect((await tenantctl(["image", "verify", file, "--index", to, ...pin])).code).toBe(0);
  const again = newFolder();
  expect((await tenantctl(["image", "mirror", "--index", to, "--to", again])).code).toBe(0);
  expect(filesIn(again)).toEqual(filesIn(to));
});

test("a mirror over the network is used instead of the vendor", async () => {
  const fingerprint = await signList();
  const server = await startFileServer();
  try {
    expect((await mirror("--distro", "ubuntu", "--base-url", `${server.base}/sub/`)).code).toBe(0);
    await vendor.close();
    for (const path of filesIn(to)) server.put(`/sub/${path}`, readFileSync(join(to, path)));
    const argv = [
      "image",
      "download",
      "ubuntu/lts",
      "--index",
      `${server.base}/sub`,
      "--signature",
      "--fingerprint",
      fingerprint,
    ];
    const got = await tenantctl([...argv, "--to", newFolder()]);
    expect(got.code).toBe(0);
    expect(JSON.parse(got.out())).toMatchObject({ from: `${server.base}/sub/${NOBLE}`, digest_from: "vendor" });
    const { images } = JSON.parse(readFileSync(join(to, "v1/images.json"), "utf8"));
    const places = images[0].build.artifacts[0].locations.map(({ url, kind }: Record<string, string>) => [url, kind]);
    expect(places).toEqual([[`${server.base}/sub/${NOBLE}`, "mirror"], [vendor.base + IMAGE_PATH, "primary"]]);
  } finally {
    await server.close();
  }
});

test("a second run fetches only damaged files, and removes image files only with --prune", async () => {
  await mirror();
  vendor.asked.length = 0;
  expect(JSON.parse((await mirror()).out())).toMatchObject({ files_fetched: 0, removed: [] });
  expect(vendor.asked.some((line) => line.includes(".qcow2") && !line.includes("sha512"))).toBe(false);

  writeFileSync(join(to, NOBLE), pattern(CONTENT.length, 3));
  expect(JSON.parse((await mirror()).out())).toMatchObject({ files_fetched: 1 });
  expect(readFileSync(join(to, NOBLE)).equals(CONTENT)).toBe(true);

  vendor.images.pop();
  vendor.publish();
  const kept = JSON.parse((await mirror()).out());
  expect(kept.removed.every((path: string) => path.startsWith("v1/distros/alpine/"))).toBe(true);
  expect(filesIn(to)).toContain(ALPINE);
  const pruned = JSON.parse((await mirror("--prune")).out());
  expect(pruned.removed).toHaveLength(2);
  expect(filesIn(to)).not.toContain(ALPINE);
});

test("if the download of an image fails, the documents of the mirror stay unchanged", async () => {
  await mirror();
  const before = readFileSync(join(to, "v1/images.json"), "utf8");
  const { mtimeMs } = statSync(join(to, "v1/images.json"));
  const { artifact } = vendor;
  const [digest] = artifact.integrity!.digests!;
  const body = pattern(CONTENT.length, 12);
  vendor.artifact = { ...artifact, integrity: { digests: [{ ...digest!, value: "0".repeat(64) }] } };
  vendor.files.set(IMAGE_PATH, body);
  const ran = await mirror("--trust-index");
  expect(ran.code).toBe(1);
  expect(ran.err()).toContain("ubuntu/noble/20261001: ");
  expect(readFileSync(join(to, "v1/images.json"), "utf8")).toBe(before);
  expect(statSync(join(to, "v1/images.json")).mtimeMs).toBe(mtimeMs);
  expect(readFileSync(join(to, NOBLE)).equals(CONTENT)).toBe(true);
});

test("`mirror` exits 3 if no image matches, and 2 if the target is the index itself", async () => {
  expect((await mirror("--distro", "gentoo")).code).toBe(3);
  await mirror();
  expect((await tenantctl(["image", "mirror", "--index", to, "--to", to])).code).toBe(2);
});

test("an image without a hash needs --no-verify, which does not affect the verification of other images", async () => {
  vendor.artifact = { ...vendor.artifact, integrity: null };
  expect((await mirror()).code).toBe(1);
  expect((await mirror("--no-verify")).code).toBe(0);
  vendor.files.set("/alpine/alpine.qcow2", pattern(9_000, 10));
  rmSync(join(to, ALPINE));
  expect((await mirror("--no-verify")).code).toBe(1);
  expect(filesIn(to)).not.toContain(ALPINE);
});
