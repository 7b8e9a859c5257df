// Tests that a digest of an upload covers all stored bytes, including bytes that this process did not receive.
import { createHash, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { IMAGE_PART_BYTES } from "../../src/contract/limits.ts";
import { createUploadDigests } from "../../src/services/upload-digests.ts";

const ID = "3f2a9c1e-0000-4000-8000-00000000c0de";
/** Twelve whole parts and one shorter part. */
const BYTES = new Uint8Array(randomBytes(12 * IMAGE_PART_BYTES + 12_345));
const SHA256 = createHash("sha256").update(BYTES).digest("hex");
const PARTS = Math.ceil(BYTES.length / IMAGE_PART_BYTES);

const partOf = (part: number) => BYTES.slice(part * IMAGE_PART_BYTES, (part + 1) * IMAGE_PART_BYTES);

/** Returns digests of a process, and the parts that it read from the store. The store lacks the part `missing`. */
function openProcess({ missing = -1 } = {}) {
  const read: number[] = [];
  const digests = createUploadDigests((_id, part) => {
    read.push(part);
    return Promise.resolve(part === missing ? null : partOf(part));
  });
  return { digests, read, add: (part: number) => digests.add(ID, part * IMAGE_PART_BYTES, partOf(part)) };
}

test("a process that got all parts reads no part", async () => {
  const { digests, read, add } = openProcess();
  for (let part = 0; part < PARTS; part += 1) await add(part);
  expect(await digests.digest(ID, BYTES.length)).toBe(SHA256);
  expect(await digests.digest(ID, BYTES.length)).toBe(SHA256);
  expect(read).toEqual([]);
});

test("a process that got no part reads all parts once", async () => {
  const { digests, read } = openProcess();
  expect(await digests.digest(ID, BYTES.length)).toBe(SHA256);
  expect(await digests.digest(ID, BYTES.length)).toBe(SHA256);
  expect(read).toEqual([...Array(PARTS).keys()]);
});

test("a process that starts in the middle catches up by eight parts with each new part", async () => {
  const { digests, read, add } = openProcess();
  await add(10);
  expect(read).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  await add(11);
  expect(read).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  await add(12);
  expect(await digests.digest(ID, BYTES.length)).toBe(SHA256);
  expect(read).toHaveLength(11);
});

test("parts that arrive together, in any order or twice, give the same digest", async () => {
  const { digests, add } = openProcess();
  const order = [3, 0, 0, 1, 5, 2, 2, 4, 12, 6, 7, 8, 11, 9, 10];
  await Promise.all(order.map(add));
  expect(await digests.digest(ID, BYTES.length)).toBe(SHA256);
});

test("a part that is missing in the store gives no digest, and does not affect the next digest", async () => {
  const { digests, add } = openProcess({ missing: 1 });
  await add(0);
  await add(2);
  expect(await digests.digest(ID, BYTES.length)).toBeNull();
  await add(1);
  expect(await digests.digest(ID, BYTES.length)).toBe(SHA256);
});
