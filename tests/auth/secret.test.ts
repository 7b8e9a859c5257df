// Tests where the server's secret comes from, and who can read it.
import { randomBytes } from "node:crypto";
import { chmod, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { serverSecret } from "../../src/auth/secret.ts";
import { type Db, openPool, sqlState } from "../../src/db/pool.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

let database: FreshDatabase;
let folder: TemporaryFolder;
let db: Db;

beforeAll(async () => {
  database = await freshDatabase();
  db = openPool({ url: database.url, role: "berth_app" });
});
beforeEach(async () => {
  folder = await temporaryFolder("secret");
});
afterEach(() => folder.remove());
afterAll(async () => {
  await db.close();
  await database.drop();
});

const from = (env: { BERTH_SECRET_KEY?: string; DATABASE_URL?: string }, dataDir = folder.path) =>
  serverSecret({ env, dataDir, db });

test("a secret in the environment may be hex, base64url or base64, and the server uses it instead of a stored secret", async () => {
  const bytes = randomBytes(33);
  for (const text of [bytes.toString("hex"), bytes.toString("base64url"), ` ${bytes.toString("base64")}\n`]) {
    const { secret, ...rest } = await from({ BERTH_SECRET_KEY: text, DATABASE_URL: database.url });
    expect(Buffer.from(secret)).toEqual(bytes);
    expect(rest).toEqual({ from: "environment", warning: null });
  }
  expect(await readdir(folder.path)).toEqual([]);
});

test("a malformed secret stops the start, and the error states the required form but not the value", async () => {
  for (const text of ["hunter2", "a".repeat(62), "correct horse battery staple correct horse battery"]) {
    const error = await from({ BERTH_SECRET_KEY: text }).catch((error: Error) => error);
    expect(String(error)).toContain("BERTH_SECRET_KEY must be at least 32 random bytes as hex or base64url");
    expect(String(error)).not.toContain(text);
  }
});

test("with the embedded database the secret is in a file that only its owner can read, and is the same at each start", async () => {
  const dataDir = join(folder.path, "new");
  const starts = await Promise.all([1, 2, 3].map(() => from({}, dataDir)));
  expect(starts[0]).toMatchObject({ from: "file", warning: null });
  expect(new Set(starts.map(({ secret }) => Buffer.from(secret).toString("hex"))).size).toBe(1);
  expect(starts[0]!.secret.length).toBe(32);
  expect((await stat(join(dataDir, "secret-key"))).mode & 0o777).toBe(0o600);
  expect(await readdir(dataDir)).toEqual(["secret-key"]);
});

test("a secret file that other users may read, or that contains no secret, stops the start", async () => {
  const path = join(folder.path, "secret-key");
  await writeFile(path, randomBytes(32).toString("hex"));
  await chmod(path, 0o640);
  await expect(from({})).rejects.toThrow(`chmod 600 ${path}`);
  await writeFile(path, "");
  await chmod(path, 0o600);
  await expect(from({})).rejects.toThrow("Restore it from a backup");
});

test("with an external database all servers use one secret in the database, and each start returns a warning", async () => {
  const starts = await Promise.all([1, 2, 3].map(() => from({ DATABASE_URL: database.url })));
  const hex = (await db.query("select encode(secret, 'hex') as hex from server_secret")).rows[0].hex;
  for (const { secret, ...rest } of starts) {
    expect(Buffer.from(secret).toString("hex")).toBe(hex);
    expect(rest).toEqual({ from: "database", warning: expect.stringContaining("can open the sealed values") });
    expect(rest.warning).not.toContain(hex);
  }
});

test("the server's role cannot change the stored secret, and the role berth_reader cannot read it", async () => {
  for (const sql of ["update server_secret set secret = secret", "delete from server_secret"]) {
    expect(sqlState(await db.query(sql).catch((error) => error)), sql).toBe("42501");
  }
  const reader = openPool({ url: database.url, role: "berth_reader" });
  expect(sqlState(await reader.query("select * from server_secret").catch((error) => error))).toBe("42501");
  await reader.close();
});
