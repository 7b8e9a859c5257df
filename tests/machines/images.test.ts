// Images from outside become base images, or are refused with a reason. The tests use the real qemu-img.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, readdir, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { beforeEach, describe, expect, test } from "vitest";
import { makeBaseImage, removeUnfinishedBases } from "../../nodeagent/qemu/base-image.ts";
import { present } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { withMachine } from "./machine.ts";

const MIB = 2 ** 20;
const run = promisify(execFile);

let folder: TemporaryFolder;
let raw: Uint8Array;
const at = (name: string) => join(folder.path, name);
const qemuImg = (...words: readonly string[]) => run(present("qemu-img"), words);

withMachine(async () => {
  folder = await temporaryFolder("base-images");
  await chmod(folder.path, 0o711);
  raw = new Uint8Array(4 * MIB);
  raw.set(randomBytes(MIB), 512);
  await writeFile(at("disk.raw"), raw);
  return folder.remove;
});

/** A signal that is never aborted. */
const { signal } = new AbortController();
/** The sizes in bytes that were passed to `makeRoom`, in the order of the calls. */
let rooms: number[];
const makeRoom = (bytes: number) => Promise.resolve(void rooms.push(bytes));
beforeEach(() => void (rooms = []));

/** Makes a base image of the file and returns the bytes of its disk. */
async function madeOf(name: string, bytes_max = 4 * MIB): Promise<Uint8Array> {
  await makeBaseImage(at(name), at("base"), { bytes_max, makeRoom, signal });
  expect((await stat(at("base"))).mode & 0o777).toBe(0o444);
  expect((await stat(at("base"))).uid).toBe(0);
  const { stdout } = await qemuImg("info", "--output=json", "-f", "qcow2", at("base"));
  expect(JSON.parse(stdout)).not.toHaveProperty("backing-filename");
  await qemuImg("convert", "-f", "qcow2", "-O", "raw", at("base"), at("made.raw"));
  return await readFile(at("made.raw"));
}

describe("an image is accepted if it is", () => {
  test.each(["raw", "qcow2", "vmdk", "vhdx"])("a disk in the format %s", async (format) => {
    const name = `disk.${format}`;
    if (format !== "raw") await qemuImg("convert", "-f", "raw", "-O", format, at("disk.raw"), at(name));
    expect(Buffer.from(await madeOf(name)).equals(raw)).toBe(true);
  });

  test("a disk in the VMDK format of OVA files", async () => {
    await qemuImg("convert", "-O", "vmdk", "-o", "subformat=streamOptimized", at("disk.raw"), at("stream.vmdk"));
    expect(Buffer.from(await madeOf("stream.vmdk")).equals(raw)).toBe(true);
  });

  test("a disk with much empty space; the node makes room only for the data", async () => {
    await qemuImg("convert", "-f", "raw", "-O", "qcow2", at("disk.raw"), at("small.qcow2"));
    await qemuImg("resize", "-f", "qcow2", at("small.qcow2"), `${2 ** 30}`);
    await makeBaseImage(at("small.qcow2"), at("base"), { bytes_max: 2 ** 30, makeRoom, signal });
    const made = await stat(at("base"));
    expect(rooms).toHaveLength(1);
    expect(rooms[0]).toBeGreaterThanOrEqual(made.blocks * 512);
    expect(rooms[0]).toBeLessThan(3 * MIB);
  });

  test.each<[string, (bytes: Uint8Array) => Uint8Array]>([["gzip", gzipSync], ["zstd", zstdCompressSync]])(
    "a disk that is compressed with %s",
    async (name, compress) => {
      await writeFile(at(name), compress(raw));
      expect(Buffer.from(await madeOf(name)).equals(raw)).toBe(true);
      expect(rooms[0], "for the unpacked disk").toBe(4 * MIB);
      expect(rooms[1], "for the base image").toBeGreaterThanOrEqual((await stat(at("base"))).blocks * 512);
    },
  );

  test("a compressed qcow2 file", async () => {
    await qemuImg("convert", "-f", "raw", "-O", "qcow2", at("disk.raw"), at("inner.qcow2"));
    await writeFile(at("outer.gz"), gzipSync(await readFile(at("inner.qcow2"))));
    expect(Buffer.from(await madeOf("outer.gz")).equals(raw)).toBe(true);
  });
});

test("an image that needs more room than the node has is refused, and nothing is written", async () => {
  const refuse = () => Promise.reject(new Error("no room"));
  const made = makeBaseImage(at("disk.raw"), at("refused"), { bytes_max: 4 * MIB, makeRoom: refuse, signal });
  await expect(made).rejects.toThrow("no room");
  expect((await readdir(folder.path)).filter((name) => name.startsWith(".base-") || name === "refused")).toEqual([]);
});

describe("an image is refused if it is", () => {
  async function refused(name: string, bytes_max = 4 * MIB): Promise<string> {
    const error = await makeBaseImage(at(name), at("refused"), { bytes_max, makeRoom, signal }).catch((error) => error);
    expect(error).toBeInstanceOf(Error);
    const left = (await readdir(folder.path)).filter((name) => name.startsWith(".base-") || name === "refused");
    expect(left).toEqual([]);
    return error.message;
  }

  test("a qcow2 file with a backing file on the node", async () => {
    await qemuImg("create", "-q", "-f", "qcow2", "-b", "/etc/passwd", "-F", "raw", at("backed.qcow2"), "1M");
    expect(await refused("backed.qcow2")).toContain("it has a backing file");
  });

  test("a qcow2 file with an external data file", async () => {
    await qemuImg("create", "-q", "-f", "qcow2", "-o", `data_file=${at("data")}`, at("split.qcow2"), "1M");
    expect(await refused("split.qcow2")).toMatch(/the image cannot be used: .*data/);
  });

  test("a VMDK that names another file", async () => {
    await writeFile(at("text.vmdk"), '# Disk DescriptorFile\nversion=1\nRW 8 FLAT "/etc/passwd" 0\n');
    expect(await refused("text.vmdk")).toContain("VMDK descriptor");
  });

  test("a disk that is larger than the image's content_bytes", async () => {
    await qemuImg("create", "-q", "-f", "qcow2", at("huge.qcow2"), "16T");
    expect(await refused("huge.qcow2")).toContain("more than the image's content_bytes");
  });

  test("a small file that unpacks to a huge file", async () => {
    await writeFile(at("bomb.gz"), gzipSync(new Uint8Array(256 * MIB)));
    expect((await stat(at("bomb.gz"))).size).toBeLessThan(MIB);
    expect(await refused("bomb.gz")).toContain("it unpacks to more than its content_bytes");
  });

  test("a truncated compressed file", async () => {
    await writeFile(at("short.gz"), gzipSync(randomBytes(MIB)).subarray(0, 1_000));
    expect(await refused("short.gz")).toContain("the image cannot be used");
  });

  test("a truncated qcow2 file", async () => {
    await writeFile(at("full.raw"), randomBytes(2 * MIB));
    await qemuImg("convert", "-f", "raw", "-O", "qcow2", at("full.raw"), at("cut.qcow2"));
    await truncate(at("cut.qcow2"), (await stat(at("cut.qcow2"))).size - MIB);
    expect(await refused("cut.qcow2")).toContain("it is damaged or incomplete");
  });

  test("random bytes after the magic number of a format", async () => {
    for (const mark of ["QFI\xfb", "KDMV", "vhdxfile"]) {
      await writeFile(at("noise"), Buffer.concat([Buffer.from(mark, "latin1"), randomBytes(100_000)]));
      expect(await refused("noise")).toContain("the image cannot be used");
    }
  });
});

test("an interrupted conversion is removed at the next start", async () => {
  await run("cp", ["-r", folder.path, `${folder.path}/.base-left`]).catch(() => {});
  await removeUnfinishedBases(folder.path);
  expect((await readdir(folder.path)).filter((name) => name.startsWith(".base-"))).toEqual([]);
});
