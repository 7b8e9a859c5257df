import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { migrate } from "../../src/db/migrate.ts";
import { readMigrations } from "../../src/db/migration-files.ts";
import { openClient } from "../../src/db/pool.ts";
import { emptyDatabase, type FreshDatabase } from "../support/database.ts";
import { startProgram } from "../support/program.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let database: FreshDatabase;
let folder: URL;
const cleanups: (() => Promise<void>)[] = [];

beforeEach(async () => {
  database = await emptyDatabase();
  const temporary = await temporaryFolder("migrations");
  cleanups.push(database.drop, temporary.remove);
  await mkdir(join(temporary.path, "migrations"));
  folder = pathToFileURL(join(temporary.path, "migrations/"));
  await write("0001_shelf.sql", "create table shelf (id bigint primary key)");
  await write("0002_book.sql", "create table book (id bigint primary key, shelf_id bigint references shelf (id))");
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const write = (name: string, sql: string) => writeFile(new URL(name, folder), sql);

async function select<R>(sql: string): Promise<R[]> {
  const client = await openClient({ url: database.url });
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

test("files are applied in order, recorded, and not applied again", async () => {
  expect(await migrate(database.url, { folder })).toEqual({ applied: ["0001_shelf.sql", "0002_book.sql"] });
  expect(await migrate(database.url, { folder })).toEqual({ applied: [] });
  expect(await select("select number, name, length(sha256) as chars from schema_migration order by 1")).toEqual([
    { number: 1, name: "0001_shelf.sql", chars: 64 },
    { number: 2, name: "0002_book.sql", chars: 64 },
  ]);
});

test("the migrations of this build apply to an empty database", async () => {
  const names = (await readMigrations()).map((migration) => migration.name);
  expect((await migrate(database.url)).applied).toEqual(names);
  expect((await migrate(database.url)).applied).toEqual([]);
});

test("a file edited after it was applied is refused with its name and the mend", async () => {
  await migrate(database.url, { folder });
  await write("0001_shelf.sql", "create table shelf (id uuid primary key)");
  await expect(migrate(database.url, { folder })).rejects.toThrow(
    /0001_shelf\.sql was edited after it was applied.*new file with the next number/s,
  );
});

test("other line ends are not an edit", async () => {
  await write("0003_note.sql", "create table note (\n  id bigint\n)");
  await migrate(database.url, { folder });
  await write("0003_note.sql", "create table note (\r\n  id bigint\r\n)");
  expect(await migrate(database.url, { folder })).toEqual({ applied: [] });
});

test("a file slipped in before an applied one is refused", async () => {
  await write("0009_last.sql", "create table last_one (id bigint)");
  await migrate(database.url, { folder });
  await write("0005_late.sql", "create table late (id bigint)");
  await expect(migrate(database.url, { folder })).rejects.toThrow(/0005_late\.sql was not applied.*next free number/s);
});

test("a database that a newer build migrated is left as it is", async () => {
  const older = new URL("older/", folder);
  await mkdir(older);
  await copyFile(new URL("0001_shelf.sql", folder), new URL("0001_shelf.sql", older));
  await migrate(database.url, { folder });
  expect(await migrate(database.url, { folder: older })).toEqual({ applied: [] });
});

test("a file that fails leaves nothing behind and is applied once mended", async () => {
  await write("0003_bad.sql", "create table half (id bigint); select no_such_function()");
  await expect(migrate(database.url, { folder })).rejects.toThrow(/0003_bad\.sql failed: .*no_such_function/);
  expect(await select("select to_regclass('half') as half, count(*) as applied from schema_migration")).toEqual([
    { half: null, applied: 2 },
  ]);
  await write("0003_bad.sql", "create table half (id bigint)");
  expect(await migrate(database.url, { folder })).toEqual({ applied: ["0003_bad.sql"] });
});

test("two files with one number are refused", async () => {
  await write("0002_again.sql", "select 1");
  await expect(migrate(database.url, { folder })).rejects.toThrow(/0002_again\.sql and 0002_book\.sql have one number/);
});

test("of three processes at once one applies and two find nothing to do", async () => {
  await write("0003_slow.sql", "create table slow as select 1 as one from pg_sleep(0.5)");
  const counts = await Promise.all(
    [1, 2, 3].map(() => startProgram("migrate-once", database.url, folder.href).firstLine),
  );
  expect(counts.sort()).toEqual(["0", "0", "3"]);
});
