// Reads or creates the server's secret, which seals records and derives keys. The secret comes from the environment,
// from a file next to the embedded database, or from the database itself. A secret in the database is less safe, so the
// server logs a warning.
import { randomBytes } from "node:crypto";
import { link, mkdir, open, readFile, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { DbClient } from "../db/pool.ts";
import { refuseOtherSecret, USE_THE_SAME } from "./secret-check.ts";

export type SecretSources = {
  readonly env: { readonly BERTH_SECRET_KEY?: string; readonly DATABASE_URL?: string };
  /** The data folder, BERTH_DATA_DIR. */
  readonly dataDir: string;
  readonly db: DbClient;
};

export type ServerSecret = {
  readonly secret: Uint8Array;
  readonly from: "environment" | "file" | "database";
  /** A warning to log when the server starts, or null. */
  readonly warning: string | null;
};

const SECRET_BYTES = 32;
const CREATE = "create one with: openssl rand -hex 32";
const FORM = `at least ${SECRET_BYTES} random bytes as hex or base64url; ${CREATE}`;

const IN_DATABASE = "BERTH_SECRET_KEY is not set, so the server's secret is kept in the database: anyone who can " +
  "read the database or a backup can open the sealed values. To move it out, stop all servers, set BERTH_SECRET_KEY " +
  "to the result of `select encode(secret, 'hex') from server_secret`, and delete that row.";

/**
 * Returns the secret as `serverSecret` does. Throws an Error if servers use this database with another secret. Without
 * DATABASE_URL, the database belongs to this process, and the secret is not checked. Then a server that has lost the
 * secret still starts.
 */
export async function sharedSecret(sources: SecretSources): Promise<ServerSecret> {
  const found = await serverSecret(sources);
  if (sources.env.DATABASE_URL) await refuseOtherSecret(sources.db, found.secret);
  return found;
}

/** Reads the secret, or creates it. Throws an Error that says what to do when the secret is unusable. */
export async function serverSecret({ env, dataDir, db }: SecretSources): Promise<ServerSecret> {
  if (env.BERTH_SECRET_KEY) {
    return { secret: fromEnvironment(env.BERTH_SECRET_KEY), from: "environment", warning: null };
  }
  if (!env.DATABASE_URL) return { secret: await fromFile(dataDir), from: "file", warning: null };
  return { secret: await fromDatabase(db), from: "database", warning: IN_DATABASE };
}

function fromEnvironment(text: string): Uint8Array {
  const secret = parse(text);
  if (secret === null) throw new Error(`BERTH_SECRET_KEY must be ${FORM}`);
  return secret;
}

function parse(text: string): Uint8Array | null {
  const trimmed = text.trim();
  const bytes = /^([0-9a-f]{2})+$/i.test(trimmed)
    ? Buffer.from(trimmed, "hex")
    : /^[A-Za-z0-9_+/-]+={0,2}$/.test(trimmed)
    ? Buffer.from(trimmed, "base64url") // Also accepts plain base64.
    : null;
  return bytes !== null && bytes.length >= SECRET_BYTES ? bytes : null;
}

/** Returns the secret in the data folder, in the form of BERTH_SECRET_KEY. Creates it on the first start. */
export async function secretOfFolder(dataDir: string): Promise<string> {
  return Buffer.from(await fromFile(dataDir)).toString("hex");
}

async function fromFile(dataDir: string): Promise<Uint8Array> {
  const path = join(dataDir, "secret-key");
  const text = await readFile(path, "utf8").catch((error) => {
    if (error.code !== "ENOENT") throw error;
    return null;
  });
  if (text === null) {
    await mint(path, dataDir);
    return await fromFile(dataDir);
  }
  if (((await stat(path)).mode & 0o077) !== 0) {
    throw new Error(`other users may read the secret in ${path}; run: chmod 600 ${path}`);
  }
  const secret = parse(text);
  if (secret === null) {
    throw new Error(
      `${path} does not contain ${FORM}. Restore it from a backup: without it the server cannot decrypt its stored ` +
        "secrets.",
    );
  }
  return secret;
}

/**
 * Creates the secret in a temporary file and hard-links it to `path`, so that no process reads a partial secret. If
 * several processes do this, the first link wins.
 */
async function mint(path: string, dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomBytes(6).toString("hex")}`;
  const file = await open(temporary, "wx", 0o600);
  try {
    await file.writeFile(randomBytes(SECRET_BYTES).toString("hex") + "\n");
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(temporary, path);
  } catch (error) {
    if ((error as { code?: string }).code !== "EEXIST") throw error;
  } finally {
    await unlink(temporary);
  }
}

/**
 * Reads the secret from the database, or creates it. All servers of one database get the same secret. Creates no secret
 * if servers use the database with a secret from another source.
 */
async function fromDatabase(db: DbClient): Promise<Uint8Array> {
  const read = () => db.query<{ secret: Uint8Array }>("select secret from server_secret");
  const present = (await read()).rows[0];
  if (present !== undefined) return present.secret;
  await db.query(
    `insert into server_secret (secret) select $1::bytea where not exists (select from secret_check)
         on conflict do nothing`,
    [randomBytes(SECRET_BYTES)],
  );
  const created = (await read()).rows[0];
  if (created === undefined) throw new Error(`BERTH_SECRET_KEY is not set. ${USE_THE_SAME}`);
  return created.secret;
}
