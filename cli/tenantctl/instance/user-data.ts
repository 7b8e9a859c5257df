// Reads user data for cloud-init from a file.
import type { FileHandle } from "node:fs/promises";
import { USER_DATA_BYTES_MAX } from "../../../src/contract/limits.ts";
import { type Failure, usageFailure } from "../../internal/failure.ts";
import { openToRead } from "../../internal/file-problem.ts";
import type { TenantIo } from "../open-io.ts";

/**
 * Reads a file; `-` is standard input. Throws a Failure if the file cannot be read, is not UTF-8 text, is empty or is
 * too long for the server.
 */
export async function readUserData(io: TenantIo, path: string): Promise<string> {
  if (path === "-") return checked(await (await io.environment.keyboard()).readAll(), "standard input");
  const file = await openToRead(path, "--user-data-file");
  try {
    return checked(textOf(await firstBytes(file), path), path);
  } finally {
    await file.close();
  }
}

/** Reads at most one byte more than allowed, even from an endless file. */
async function firstBytes(file: FileHandle): Promise<Uint8Array> {
  const bytes = new Uint8Array(USER_DATA_BYTES_MAX + 1);
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  if (length === bytes.length) throw tooLong();
  return bytes.subarray(0, length);
}

function textOf(bytes: Uint8Array, source: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw usageFailure(`${source} is not UTF-8 text`);
  }
}

function checked(text: string, source: string): string {
  if (text === "") throw usageFailure(`${source} is empty`);
  if (new TextEncoder().encode(text).length > USER_DATA_BYTES_MAX) throw tooLong();
  return text;
}

function tooLong(): Failure {
  return usageFailure(`user data must be at most ${USER_DATA_BYTES_MAX} bytes`);
}
