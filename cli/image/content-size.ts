// Finds the size of the disk in an image file, if necessary by decompressing the file. An index lists only the size of
// the file, but a boot disk must be at least as large as the disk in its image.
import { spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import { PassThrough, type Readable, type Transform } from "node:stream";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { EXIT } from "../internal/exit-code.ts";
import { Failure } from "../internal/failure.ts";
import type { Environment } from "../internal/environment.ts";
import type { Artifact } from "./model.ts";

/** The largest disk (DISK_BYTES_MAX). A file that decompresses to more is damaged, or was made to fill a disk. */
const CONTENT_BYTES_MAX = 16 * 2 ** 40;
/** QEMU, docs/interop/qcow2: the magic, and the virtual size as 8 bytes, big-endian, at 24. */
const QCOW2_MAGIC = 0x514649fb;
const QCOW2_SIZE_AT = 24;
const QCOW2_HEADER_BYTES = 32;
/** Maximum number of characters to show of a program's error output. */
const STDERR_CHARS_MAX = 1_024;

/** Programs for compressions that this runtime does not support. They read standard input and write standard output. */
const PROGRAMS: Readonly<Record<string, string>> = { xz: "xz", bzip2: "bzip2" };

/** Returns whether the file is not compressed. */
export function isPlain({ compression }: Artifact): boolean {
  return compression === "none";
}

/**
 * Returns the size of the disk in the file, in bytes. Of a qcow2 image, reads only the header. Throws a Failure for an
 * unknown compression, a file that cannot be read or decompressed, and a disk that is too large.
 */
export async function contentBytes(environment: Environment, path: string, { compression }: Artifact): Promise<number> {
  const { stream, close } = open(path, compression);
  let bytes = 0;
  let head = new Uint8Array();
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      if (environment.signal.aborted) throw new Failure("interrupted", EXIT.interrupted);
      if (head.length < QCOW2_HEADER_BYTES) head = new Uint8Array([...head, ...chunk.subarray(0, QCOW2_HEADER_BYTES)]);
      bytes += chunk.length;
      const known = virtualSize(head);
      if (known !== null) return within(known, path);
      within(bytes, path);
    }
    return within(bytes, path);
  } catch (error) {
    if (error instanceof Failure) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const what = compression === "none" ? "cannot be read" : `cannot be decompressed as ${compression}`;
    throw new Failure(`${path} ${what}: ${reason}`, EXIT.failure);
  } finally {
    close();
  }
}

/** Returns the virtual size in a qcow2 header; null for any other bytes. */
function virtualSize(head: Uint8Array): number | null {
  if (head.length < QCOW2_HEADER_BYTES) return null;
  const view = new DataView(head.buffer);
  return view.getUint32(0) === QCOW2_MAGIC ? Number(view.getBigUint64(QCOW2_SIZE_AT)) : null;
}

function within(bytes: number, path: string): number {
  if (bytes <= CONTENT_BYTES_MAX) return bytes;
  throw new Failure(`the disk in ${path} has more than ${CONTENT_BYTES_MAX} bytes`, EXIT.failure);
}

type Opened = { readonly stream: Readable; close(): void };

function open(path: string, compression: string): Opened {
  switch (compression) {
    case "none": {
      const stream = createReadStream(path);
      return { stream, close: () => void stream.destroy() };
    }
    case "gzip":
      return through(path, createGunzip());
    case "zstd":
      return through(path, createZstdDecompress());
    default: {
      const program = Object.hasOwn(PROGRAMS, compression) ? PROGRAMS[compression] : undefined;
      if (program !== undefined) return piped(path, program);
      throw new Failure(
        `this program cannot decompress ${compression}; pass the size of the disk in the image with --content-size`,
        EXIT.failure,
      );
    }
  }
}

function through(path: string, into: Transform): Opened {
  const file = createReadStream(path);
  file.on("error", (error) => into.destroy(error));
  const close = () => {
    file.destroy();
    into.destroy();
  };
  return { stream: file.pipe(into), close };
}

function piped(path: string, program: string): Opened {
  const file = createReadStream(path);
  const child = spawn(program, ["-dc"], { stdio: ["pipe", "pipe", "pipe"] });
  const { stdin, stdout, stderr } = child;
  let errors = "";
  stderr.on("data", (text) => errors = `${errors}${text}`.slice(0, STDERR_CHARS_MAX));
  stdin.on("error", () => {}); // The program may end before it has read everything.
  file.on("error", (error) => stdout.destroy(error));
  child.once("error", (error) => stdout.destroy(error));
  const checked = new PassThrough();
  stdout.on("error", (error) => checked.destroy(error));
  stdout.pipe(checked, { end: false });
  // Only the exit code shows whether the file was complete.
  child.once("close", (code) => {
    if (code === 0) checked.end();
    else checked.destroy(new Error(errors.trim() || `${program} ended with ${code}`));
  });
  file.pipe(stdin);
  const close = () => {
    file.destroy();
    child.kill();
    checked.destroy();
  };
  return { stream: checked, close };
}
