// Writes the booter's own files atomically. Only their owner can read them. Reads files with secrets that operators
// configure. Refuses such a file if its mode gives other users any access.
import { constants } from "node:fs";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import { dirname } from "node:path";
import { fileReason } from "../cli/internal/file-problem.ts";

const OTHERS = 0o077;

/** Replaces a file atomically. The new content is on disk when this returns. */
export async function writeDurably(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const file = await open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Reads a file. Returns null if it does not exist. */
export async function readOwn(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return null;
    throw error;
  }
}

/**
 * Reads a secret from the first line of a file. Throws if the file cannot be read, the line is empty, or the file's
 * mode gives other users any access.
 */
export async function readSecretLine(path: string, what: string): Promise<string> {
  let file;
  try {
    file = await open(path, "r");
  } catch (error) {
    throw new Error(`${what}: cannot read ${path}: ${fileReason(error)}`);
  }
  try {
    const { mode } = await file.stat();
    if ((mode & OTHERS) !== 0) throw new Error(`${what}: ${path} is accessible to other users; run: chmod 600 ${path}`);
    const text = (await file.readFile("utf8")).split(/\r?\n/, 1)[0] ?? "";
    if (text === "") throw new Error(`${what}: ${path} is empty`);
    return text;
  } finally {
    await file.close();
  }
}

/** Reads a certificate and its key. Refuses a key file that other users can access. */
export async function readTls(
  { certificate_file, key_file }: { readonly certificate_file: string; readonly key_file: string },
): Promise<{ readonly cert: string; readonly key: string }> {
  await readSecretLine(key_file, "https.key_file");
  const read = async (path: string, what: string) => {
    const text = await readFile(path, "utf8").catch((error) => {
      throw new Error(`${what}: cannot read ${path}: ${fileReason(error)}`);
    });
    if (!text.includes("-----BEGIN ")) throw new Error(`${what}: ${path} is not PEM`);
    return text;
  };
  return { cert: await read(certificate_file, "https.certificate_file"), key: await read(key_file, "https.key_file") };
}

/** Reads the booter's own secret, or creates it. Tickets of boot scripts and AMQP passwords are derived from it. */
export async function ownSecret(state_dir: string): Promise<Uint8Array> {
  const path = `${state_dir}/secret`;
  const kept = await readOwn(path);
  if (kept !== null && /^[0-9a-f]{64}\n$/.test(kept)) {
    return Uint8Array.from(kept.trim().match(/../g)!, (hex) => parseInt(hex, 16));
  }
  const made = randomBytes(32);
  await writeDurably(path, `${made.toString("hex")}\n`);
  return made;
}
