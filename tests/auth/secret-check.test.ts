// Tests that a control plane refuses to start if another secret was used with its database.
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { refuseOtherSecret } from "../../src/auth/secret-check.ts";
import { type Db, openPool, sqlState } from "../../src/db/pool.ts";
import { openTestControlPlane, SECRET_KEY } from "../support/control-plane.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";

const OTHER_KEY = "6f".repeat(32);

let database: FreshDatabase;
/** The owner of the tables. */
let owner: Db;

beforeEach(async () => {
  database = await freshDatabase();
  owner = openPool({ url: database.url, connectionsMax: 1 });
});
afterEach(async () => {
  await owner.close();
  await database.drop();
});

/** Starts and ends a control plane with this BERTH_SECRET_KEY. */
async function start(
  BERTH_SECRET_KEY: string | undefined,
  DATABASE_URL: string | undefined = database.url,
): Promise<void> {
  const env = { BERTH_SECRET_KEY, DATABASE_URL };
  const plane = await openTestControlPlane({ databaseUrl: database.url, resident: false, env });
  await plane.close();
}

test("a control plane with another secret does not start, and the error names the variable but no secret", async () => {
  await start(SECRET_KEY);
  const error = await start(OTHER_KEY).catch((error: Error) => error);
  expect(String(error)).toContain("this database is used with another secret than BERTH_SECRET_KEY");
  for (const key of [SECRET_KEY, OTHER_KEY]) expect(String(error)).not.toContain(key);
  await start(Buffer.from(SECRET_KEY, "hex").toString("base64url"));
});

test("if a database is used with a secret, a control plane without a secret does not start and creates no secret", async () => {
  await start(SECRET_KEY);
  await expect(start(undefined)).rejects.toThrow("BERTH_SECRET_KEY is not set. All control planes of a database need");
  expect((await owner.query("select from server_secret")).rowCount).toBe(0);
});

test("the secret can be moved from the database into BERTH_SECRET_KEY", async () => {
  await start(undefined);
  const { rows: [stored] } = await owner.query<{ hex: string }>(
    "select encode(secret, 'hex') as hex from server_secret",
  );
  await owner.query("delete from server_secret");
  await start(stored!.hex);
  await expect(start(OTHER_KEY)).rejects.toThrow("another secret");
});

test("after the owner deleted the row of secret_check, only the secret of the next start is accepted", async () => {
  await start(SECRET_KEY);
  await owner.query("delete from secret_check");
  await start(OTHER_KEY);
  await expect(start(SECRET_KEY)).rejects.toThrow("another secret");
});

test("a server with the embedded PostgreSQL starts even with another secret", async () => {
  await start(SECRET_KEY, "");
  await start(OTHER_KEY, "");
});

test("if several servers with different secrets start on a new database at the same time, all but one fail", async () => {
  const db = openPool({ url: database.url, role: "berth_app" });
  const starts = await Promise.allSettled([1, 2, 3, 4].map(() => refuseOtherSecret(db, randomBytes(32))));
  expect(starts.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  await db.close();
});

test("the role berth_reader cannot read the value in secret_check, which is derived from the secret", async () => {
  const reader = openPool({ url: database.url, role: "berth_reader" });
  expect(sqlState(await reader.query("select * from secret_check").catch((error) => error))).toBe("42501");
  await reader.close();
});
