// Tests node images in a release.
import { Buffer } from "node:buffer";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { nodeImageTar } from "../../cli/release/node-image-tar.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { readTar } from "./read-deb.ts";
import { TIME_S } from "./small-release.ts";

const STAMP = "20260102T000000Z";
const MANIFEST = { kind: "linux", stamp: STAMP };

let folder: TemporaryFolder;
beforeEach(async () => {
  folder = await temporaryFolder("node-image-tar");
});
afterEach(() => folder.remove());

/** Writes a folder as `task node-image` does. */
async function imageIn(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  const path = join(folder.path, name);
  await mkdir(path);
  for (const [each, text] of Object.entries(files)) await writeFile(join(path, each), text);
  return path;
}

const manifest = (values: object) => ({ "manifest.json": JSON.stringify(values), "manifest.json.asc": "signature" });

test("the archive of a node image has its files in a folder named by the stamp, always in the same order", async () => {
  const path = await imageIn(STAMP, { vmlinuz: "kernel", ...manifest(MANIFEST) });
  const { name, bytes } = await nodeImageTar(path, TIME_S);
  expect(name).toBe(`berth-node-image_${STAMP}_amd64.tar`);
  const files = readTar(Buffer.from(bytes)).filter(({ isFolder }) => !isFolder);
  expect(files.map((each) => [each.path, each.bytes.toString()])).toEqual([
    [`${STAMP}/manifest.json`, JSON.stringify(MANIFEST)],
    [`${STAMP}/manifest.json.asc`, "signature"],
    [`${STAMP}/vmlinuz`, "kernel"],
  ]);
  expect((await nodeImageTar(path, TIME_S)).bytes).toEqual(bytes);
});

test.each([
  ["a folder that does not exist", null, /manifest\.json is missing/],
  ["an image without a signature", { "manifest.json": "{}" }, /manifest\.json\.asc is missing/],
  ["a SmartOS platform image", manifest({ kind: "smartos", stamp: STAMP }), /of kind smartos/],
  ["an image in a folder with another name", manifest({ kind: "linux", stamp: "other" }), /describes image other/],
])("%s is refused", async (_name, files, error) => {
  const path = files === null ? join(folder.path, "absent") : await imageIn(STAMP, files);
  await expect(nodeImageTar(path, TIME_S)).rejects.toThrow(error);
});
