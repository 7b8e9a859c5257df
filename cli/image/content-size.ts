// How large the disk is that an image file holds: what the file says once it is decompressed. A vendor's index tells the
// size of the file only (document 1, Artifact), and no boot disk may be smaller than the disk.
import { spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import { PassThrough, type Readable, type Transform } from "node:stream";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { EXIT } from "../internal/exit-code.ts";
import { Failure } from "../internal/failure.ts";
import type { Environment } from "../internal/environment.ts";
import type { Artifact } from "./model.ts";

/** Document 3, Limits: no disk is larger. A file that decompresses to more is none, or is made to fill a machine. */
const CONTENT_BYTES_MAX = 16 * 2 ** 40;
/** QEMU, docs/interop/qcow2: the magic, and the virtual size as 8 bytes, big-endian, at 24. */
const QCOW2_MAGIC = 0x514649fb;
const QCOW2_SIZE_AT = 24;
const QCOW2_HEADER_BYTES = 32;
/** What is shown of a program's complaint. */
const STDERR_CHARS_MAX = 1_024;

/** Programs for what this runtime does not decompress itself. They read and write pipes. */
const PROGRAMS: Readonly<Record<string, string>> = { xz: "xz", bzip2: "bzip2" };

/** Whether the file is the content as it comes. */
export function isPlain({ compression }: Artifact): boolean {
  return compression === "none";
}

/** Bytes of the disk in the file at `path`. Throws a Failure for a compression that this program does not know. */
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
    throw new Failure(`${path} cannot be read as ${compression}: ${reason}`, EXIT.failure);
  } finally {
    close();
  }
}

/** Null unless these are the first bytes of a qcow2 image. */
function virtualSize(head: Uint8Array): number | null {
  if (head.length < QCOW2_HEADER_BYTES) return null;
  const view = new DataView(head.buffer);
  return view.getUint32(0) === QCOW2_MAGIC ? Number(view.getBigUint64(QCOW2_SIZE_AT)) : null;
}

function within(bytes: number, path: string): number {
  if (bytes <= CONTENT_BYTES_MAX) return bytes;
  throw new Failure(`${path} holds a disk of more than ${CONTENT_BYTES_MAX} bytes`, EXIT.failure);
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
        `this program cannot decompress ${compression}; say how large the disk in the image is with --content-size`,
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
  let said = "";
  stderr.on("data", (text) => said = `${said}${text}`.slice(0, STDERR_CHARS_MAX));
  stdin.on("error", () => {}); // It may end before it has read everything.
  file.on("error", (error) => stdout.destroy(error));
  child.once("error", (error) => stdout.destroy(error));
  const checked = new PassThrough();
  stdout.on("error", (error) => checked.destroy(error));
  stdout.pipe(checked, { end: false });
  // Only its exit code tells whether the file was whole.
  child.once("close", (code) => {
    if (code === 0) checked.end();
    else checked.destroy(new Error(said.trim() || `${program} ended with ${code}`));
  });
  file.pipe(stdin);
  const close = () => {
    file.destroy();
    child.kill();
    checked.destroy();
  };
  return { stream: checked, close };
}
