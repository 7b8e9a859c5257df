// Sends and receives files of a VM that moves. For a stopped VM, these are the disks and the UEFI variables. For a
// running VM, these are the detached disks. The target keeps a received file under another name until its digest equals
// the digest that the source computed.
import { createHash } from "node:crypto";
import { chmod, chown, open, rm, stat } from "node:fs/promises";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import type { OpenStream } from "../migration/migrations.ts";
import { renameDurably } from "./durable-rename.ts";

export type FileSent = { readonly bytes: number; readonly sha256: string };

/** The name of the UEFI variables among the files of a VM. Each disk has its id as its name. */
export const UEFI_VARIABLES = "uefi-variables";

const CHUNK_BYTES = 2 ** 20;
const OWNER_ONLY = 0o600;

/** Sends a file, at a rate of at most `bandwidth_bytes_per_s`. Calls `onSent` with the bytes of each chunk. */
export async function sendFile(
  path: string,
  { socket }: OpenStream,
  { bytes, bandwidth_bytes_per_s, signal, onSent }: {
    readonly bytes: number;
    readonly bandwidth_bytes_per_s: number;
    readonly signal: AbortSignal;
    readonly onSent: (bytes: number) => void;
  },
): Promise<FileSent> {
  const digest = createHash("sha256");
  const file = await open(path, "r");
  const begun_ms = performance.now();
  try {
    const buffer = new Uint8Array(CHUNK_BYTES);
    for (let sent = 0; sent < bytes;) {
      signal.throwIfAborted();
      const { bytesRead } = await file.read(buffer, 0, Math.min(CHUNK_BYTES, bytes - sent), sent);
      if (bytesRead === 0) throw new Failure(`${path} became shorter while it was sent`, EXIT.failure);
      const chunk = buffer.slice(0, bytesRead);
      digest.update(chunk);
      await written(socket, chunk);
      sent += bytesRead;
      onSent(bytesRead);
      const early_ms = sent / bandwidth_bytes_per_s * 1_000 - (performance.now() - begun_ms);
      if (early_ms > 1) await sleep(early_ms, undefined, { signal });
    }
    return { bytes, sha256: digest.digest("hex") };
  } finally {
    await file.close();
  }
}

function written(socket: Socket, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    if (socket.destroyed) return reject(new Failure("the target closed the connection", EXIT.failure));
    const closed = () => reject(new Failure("the target closed the connection", EXIT.failure));
    socket.once("close", closed);
    socket.write(chunk, () => {
      socket.off("close", closed);
      resolve();
    });
  });
}

/** Receives a file of `bytes` bytes under a temporary name. Returns its digest. */
export async function receiveFile(path: string, { socket, first }: OpenStream, bytes: number): Promise<FileSent> {
  const digest = createHash("sha256");
  await rm(draftOf(path), { force: true });
  const file = await open(draftOf(path), "wx", OWNER_ONLY);
  try {
    let received = 0;
    const take = async (chunk: Uint8Array) => {
      digest.update(chunk);
      await file.write(chunk, 0, chunk.length, received);
      received += chunk.length;
    };
    if (first.length > 0) await take(first);
    if (received < bytes) {
      for await (const chunk of socket) {
        await take(chunk as Uint8Array);
        if (received >= bytes) break;
      }
    }
    if (received !== bytes) throw new Failure(`the source sent ${received} of ${bytes} bytes`, EXIT.failure);
    return { bytes, sha256: digest.digest("hex") };
  } finally {
    await file.close();
    socket.destroy();
  }
}

/** Gives a received file to the VM's user, and renames it to its final name. */
export async function placeFile(path: string, uid: number): Promise<void> {
  await chmod(draftOf(path), OWNER_ONLY);
  await chown(draftOf(path), uid, uid);
  await renameDurably(draftOf(path), path);
}

function draftOf(path: string): string {
  return `${path}.arriving`;
}

export async function sizeOf(path: string): Promise<number> {
  return (await stat(path)).size;
}
