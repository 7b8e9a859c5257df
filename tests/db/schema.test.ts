// Every upgrade must result in the schema of migrations/schema.sql and keep all rows.
import { readFile } from "node:fs/promises";
import { afterEach, expect, test } from "vitest";
import { functionFile, SCHEMA_FILE, schemaOf } from "../../migrations/print.ts";
import { printedFunctions } from "../../migrations/print-functions.ts";
import { migrate } from "../../src/db/migrate.ts";
import { type Connection, openClient, openPool } from "../../src/db/pool.ts";
import { emptyDatabase, type FreshDatabase, freshDatabase } from "../support/database.ts";
import { type Dump, dumpTables } from "../support/dump.ts";
import { databaseOfRelease010, fillEveryTable } from "./release-0-1-0.ts";

const HINT = "run `deno task schema`";
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function connect(database: FreshDatabase): Promise<Connection> {
  const client = await openClient({ url: database.url });
  cleanups.push(database.drop, () => client.end());
  return client;
}

async function rowsOf({ url }: FreshDatabase): Promise<Dump> {
  const pool = openPool({ url, connectionsMax: 1 });
  try {
    return await dumpTables(pool);
  } finally {
    await pool.close();
  }
}

const canonical = () => readFile(SCHEMA_FILE, "utf8");

test("all migrations together, applied to an empty database, result in the schema of schema.sql", async () => {
  expect(await schemaOf(await connect(await freshDatabase())), HINT).toBe(await canonical());
});

test("the files of the functions that `deno task schema` prints are up to date with the schema", async () => {
  const printed = await printedFunctions(await connect(await freshDatabase()));
  expect(printed.size).toBeGreaterThan(0);
  for (const [name, sql] of printed) expect(await readFile(functionFile(name), "utf8"), HINT).toBe(sql);
});

test("schema.sql runs on an empty database and creates the same schema", async () => {
  const client = await connect(await emptyDatabase());
  await client.query(await canonical());
  expect(await schemaOf(client), HINT).toBe(await canonical());
});

test("the upgrade of a release 0.1.0 database results in the schema of schema.sql and keeps every row", async () => {
  const database = await databaseOfRelease010();
  const client = await connect(database);
  await fillEveryTable(client);
  await validateForeignKeys(client);
  const before = await rowsOf(database);
  expect([...before].filter(([, rows]) => rows.length === 0)).toEqual([]);

  await migrate(database.url);
  expect(await schemaOf(client), HINT).toBe(await canonical());
  await validateForeignKeys(client);
  expect(lostValues(before, await rowsOf(database))).toEqual([
    // Migration 0037 renames this table to sealed_user_data. The server encrypts the stored texts when it starts.
    "instance_user_data: no row",
  ]);
  expect((await client.query("select instance_id, plain from sealed_user_data")).rows).toEqual([
    { instance_id: expect.any(String), plain: "kept" },
  ]);
});

/**
 * Compares the rows before and after the upgrade. Returns each table that has no row after the upgrade. In the other
 * tables, compares each row of 0.1.0 with the most similar new row, and returns the values that the new row lacks.
 */
function lostValues(before: Dump, after: Dump): string[] {
  return [...before].flatMap(([table, rows]) => {
    const now = (after.get(table) ?? []).map((row) => JSON.parse(row));
    return rows.flatMap((row) => {
      const old = Object.entries(JSON.parse(row));
      const kept = (values: Record<string, unknown>) =>
        old.filter(([column, value]) => JSON.stringify(values[column]) !== JSON.stringify(value));
      const closest = now.map(kept).sort((a, b) => a.length - b.length)[0];
      if (closest === undefined) return [`${table}: no row`];
      return closest.map(([column, value]) => `${table}.${column}: ${JSON.stringify(value)}`);
    });
  });
}

/**
 * Throws if a row refers to a missing row. The database did not check this, because the fixture inserts rows without
 * triggers.
 */
async function validateForeignKeys(client: Connection): Promise<void> {
  const { rows } = await client.query<{ table: string; name: string; definition: string }>(
    `select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
       from pg_constraint where contype = 'f' and conparentid = 0`,
  );
  for (const { table, name, definition } of rows) {
    await client.query("begin");
    await client.query(`alter table ${table} drop constraint ${name}`);
    await client.query(`alter table ${table} add constraint ${name} ${definition}`);
    await client.query("rollback");
  }
}
