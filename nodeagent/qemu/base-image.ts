// Turns a verified download into a base image: one complete qcow2 file that refers to no other file. Every program that
// reads the download runs without privileges in a separate folder.
import { chmod, chown, link, mkdir, open, readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Preparing, Stoppable } from "../driver.ts";
import { RefusedImage } from "../refused-image.ts";
import { renameDurably } from "./durable-rename.ts";
import { type Compression, compressionOf, formatOf, HEAD_BYTES, judgeImage } from "./image-verdict.ts";
import { ProgramFailed } from "./run-program.ts";
import { runUnprivileged, SANDBOX_UID } from "./unprivileged.ts";

/** Limits of a conversion: elapsed time and processor time. They are enough for a large image, not for 16 TiB. */
const CONVERT_LIMIT_MS = 30 * 60_000;
const CONVERT_PROCESSOR_S_MAX = 1_200;
const INFO_PROCESSOR_S_MAX = 20;
const INFO_LIMIT_MS = 30_000;
/** The bytes that the tables of a disk file may take in addition to its content. */
const TABLE_BYTES = 64 * 2 ** 20;
/** Exit codes of `qemu-img check`. */
const DAMAGED = 2;
const LEAKS_ONLY = 3;
const READABLE = 0o444;
const PRIVATE_FOLDER = 0o700;
const WORK = ".base-";

const DECOMPRESSORS: Readonly<Record<Compression, string>> = {
  gzip: "gzip",
  zstd: "zstd",
  xz: "xz",
  bzip2: "bzip2",
};

/**
 * Converts the file at `source` into the base image at `target`. The base image appears only when it is complete and on
 * disk. The source must be on the target's file system, and keeps its content. Throws a RefusedImage if the image
 * cannot be used.
 */
export async function makeBaseImage(source: string, target: string, options: Preparing): Promise<void> {
  const work = join(dirname(target), `${WORK}${basename(target)}`);
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { mode: PRIVATE_FOLDER });
  try {
    await chown(work, SANDBOX_UID, SANDBOX_UID);
    await chmod(source, READABLE);
    await link(source, join(work, "source"));
    await convert(work, options);
    const made = join(work, "base.qcow2");
    await chown(made, 0, 0);
    await chmod(made, READABLE);
    await renameDurably(made, target);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Removes the folders of interrupted conversions. */
export async function removeUnfinishedBases(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const left = names.filter((name) => name.startsWith(WORK));
  await Promise.all(left.map((name) => rm(join(folder, name), { recursive: true, force: true })));
}

async function convert(cwd: string, { bytes_max, makeRoom, signal }: Preparing): Promise<void> {
  const limits = { cwd, signal, file_bytes_max: bytes_max + Math.floor(bytes_max / 8) + TABLE_BYTES };
  const compression = compressionOf(await headOf(join(cwd, "source")));
  const name = compression === null ? "source" : "content";
  if (compression !== null) {
    // Most compression formats do not contain the size of the content. Users mostly compress raw disks, whose content
    // has `bytes_max` bytes. So the agent frees `bytes_max` bytes.
    await makeRoom(bytes_max);
    await decompress(compression, limits);
  }
  const format = formatOf(await headOf(join(cwd, name)));
  const described = await runUnprivileged(
    ["qemu-img", "info", "--output=json", "-f", format, name],
    { ...limits, limit_ms: INFO_LIMIT_MS, processor_s_max: INFO_PROCESSOR_S_MAX },
  ).catch(refuse);
  judgeImage(JSON.parse(described), { format, bytes_max });
  if (format === "qcow2") {
    // Without this check, a truncated file would be converted, too: its missing clusters read as zeros.
    await runUnprivileged(
      ["qemu-img", "check", "-q", "-f", format, name],
      { ...limits, limit_ms: CONVERT_LIMIT_MS, processor_s_max: CONVERT_PROCESSOR_S_MAX },
    ).catch(refuseDamaged);
  }
  const measured = await runUnprivileged(
    ["qemu-img", "measure", "--output=json", "-f", format, "-O", "qcow2", name],
    { ...limits, limit_ms: INFO_LIMIT_MS, processor_s_max: INFO_PROCESSOR_S_MAX },
  ).catch(refuse);
  await makeRoom((JSON.parse(measured) as { readonly required: number }).required);
  await runUnprivileged(
    ["qemu-img", "convert", "-f", format, "-O", "qcow2", "-S", "4k", name, "base.qcow2"],
    { ...limits, limit_ms: CONVERT_LIMIT_MS, processor_s_max: CONVERT_PROCESSOR_S_MAX },
  ).catch(refuse);
}

type Limits = Stoppable & { readonly cwd: string; readonly file_bytes_max: number };

/** Unpacks `source` into `content`. If `content` becomes far too large, the limit on file sizes ends the program. */
async function decompress(compression: Compression, limits: Limits): Promise<void> {
  const script = 'exec "$0" -dc < source > content';
  await runUnprivileged(["sh", "-c", script, DECOMPRESSORS[compression]], {
    ...limits,
    limit_ms: CONVERT_LIMIT_MS,
    processor_s_max: CONVERT_PROCESSOR_S_MAX,
    name: DECOMPRESSORS[compression],
  }).catch((error) => {
    if (error instanceof ProgramFailed && (error.signal === "SIGXFSZ" || /file too large/i.test(error.stderr))) {
      throw new RefusedImage("it unpacks to more than its content_bytes");
    }
    return refuse(error);
  });
}

/**
 * Refuses a file whose tables are damaged, or refer to bytes after its end. Clusters that nothing uses are harmless.
 */
function refuseDamaged(error: unknown): void {
  if (error instanceof ProgramFailed && error.code === LEAKS_ONLY) return;
  if (error instanceof ProgramFailed && error.code === DAMAGED) {
    throw new RefusedImage("it is damaged or incomplete: qemu-img check reports errors");
  }
  refuse(error);
}

function refuse(error: unknown): never {
  if (error instanceof ProgramFailed && !/is not installed|No space left/.test(error.stderr)) {
    throw new RefusedImage(error.message);
  }
  throw error;
}

async function headOf(path: string): Promise<Uint8Array> {
  const file = await open(path, "r");
  try {
    const buffer = new Uint8Array(HEAD_BYTES);
    const { bytesRead } = await file.read(buffer, 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
