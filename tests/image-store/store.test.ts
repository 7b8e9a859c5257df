// Tests the stores of uploaded images: a folder and a bucket behave alike.
import { randomBytes, randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openBucketStore } from "../../src/image-store/bucket.ts";
import { openFolderStore } from "../../src/image-store/folder.ts";
import type { ImageStore } from "../../src/image-store/store.ts";
import { IMAGE_PART_BYTES } from "../../src/contract/limits.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { type BucketServer, serveBucket } from "./bucket-server.ts";

const CREDENTIAL = { key_id: "AKIDEXAMPLE", secret: "not-a-real-secret", region: "eu-1" };

let folder: TemporaryFolder;
let bucket: BucketServer;
beforeAll(async () => {
  folder = await temporaryFolder("store");
  bucket = await serveBucket(CREDENTIAL);
});
afterAll(async () => {
  await bucket?.close();
  await folder?.remove();
});

const STORES: Readonly<Record<string, () => Promise<ImageStore>>> = {
  folder: () => openFolderStore(join(folder.path, "images")),
  bucket: () => Promise.resolve(openBucketStore({ url: bucket.url, ...CREDENTIAL })),
  "bucket with a prefix": () => Promise.resolve(openBucketStore({ url: `${bucket.url}/site/one`, ...CREDENTIAL })),
};

describe.each(Object.keys(STORES))("a %s", (name) => {
  test("returns parts that were written in any order, and keeps the bytes of the first write of each part", async () => {
    const store = await STORES[name]!();
    const id = randomUUID();
    const [whole, rest] = [new Uint8Array(randomBytes(IMAGE_PART_BYTES)), new Uint8Array(randomBytes(100))];
    expect(await store.write(id, 1, rest)).toBe(true);
    expect(await store.write(id, 0, whole)).toBe(true);
    expect(await store.write(id, 0, whole)).toBe(true);
    expect(await store.write(id, 0, new Uint8Array(IMAGE_PART_BYTES))).toBe(false);
    expect(await store.read(id, 0)).toEqual(whole);
    expect(await store.read(id, 1)).toEqual(rest);
    expect(await store.read(id, 2)).toBeNull();
    expect(await store.read(randomUUID(), 0)).toBeNull();
    await store.remove(id);
  });

  test("if several writers store the same part at once, one of them stores its bytes, and the writes of the others return false", async () => {
    const store = await STORES[name]!();
    const id = randomUUID();
    const parts = Array.from({ length: 8 }, () => new Uint8Array(randomBytes(IMAGE_PART_BYTES)));
    const stored = await Promise.all(parts.map((bytes) => store.write(id, 0, bytes)));
    expect(stored.filter((each) => each)).toHaveLength(1);
    expect(await store.read(id, 0)).toEqual(parts[stored.indexOf(true)]);
    await store.remove(id);
  });

  test("lists the stored images, and removes one image with all its parts", async () => {
    const store = await STORES[name]!();
    const ids = [randomUUID(), randomUUID()].sort();
    for (const id of ids) {
      for (let part = 0; part < 4; part += 1) await store.write(id, part, new Uint8Array([part]));
    }
    const listed = await store.list();
    expect(listed.map(({ id }) => id).sort()).toEqual(ids);
    for (const { changed_at_ms } of listed) expect(Math.abs(Date.now() - changed_at_ms)).toBeLessThan(60_000);
    await store.remove(ids[0]!);
    expect((await store.list()).map(({ id }) => id)).toEqual([ids[1]]);
    expect(await store.read(ids[0]!, 0)).toBeNull();
    await store.remove(ids[1]!);
    await store.remove(ids[1]!);
    expect(await store.list()).toEqual([]);
  });
});

test("a folder is private, and an id cannot name another file", async () => {
  const path = join(folder.path, "private");
  const store = await openFolderStore(path);
  expect((await stat(path)).mode & 0o777).toBe(0o700);
  await expect(store.read("../secret", 0)).rejects.toThrow(TypeError);
});

describe("requests to a bucket", () => {
  test("with a wrong secret fail, and the error names neither the key nor the secret", async () => {
    const store = openBucketStore({ url: bucket.url, ...CREDENTIAL, secret: "another" });
    await expect(store.read(randomUUID(), 0)).rejects.toThrow(/^the bucket of uploaded images answered 403 to GET$/);
    await expect(store.write(randomUUID(), 0, new Uint8Array(1))).rejects.toThrow(/answered 403 to PUT$/);
  });

  test("are repeated after a failure; many failures in a row are an error", async () => {
    const store = openBucketStore({ url: bucket.url, ...CREDENTIAL });
    const id = randomUUID();
    bucket.failNext(2, 503);
    await store.write(id, 0, new Uint8Array([1]));
    expect(await store.read(id, 0)).toEqual(new Uint8Array([1]));
    bucket.failNext(10, 503);
    await expect(store.read(id, 0)).rejects.toThrow(/answered 503 to GET$/);
    bucket.failNext(0, 500);
  });
});
