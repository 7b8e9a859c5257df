// Tests how migrations and functions are applied to a database.
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { migrate } from "../../src/db/migrate.ts";
import { FIRST_CHECKSUMS } from "../../src/db/first-checksums.ts";
import { readFunctions, readMigrations } from "../../src/db/migration-files.ts";
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

test("migrations are applied in order, recorded, and not applied again", async () => {
  expect(await migrate(database.url, { folder })).toEqual({ applied: ["0001_shelf.sql", "0002_book.sql"] });
  expect(await migrate(database.url, { folder })).toEqual({ applied: [] });
  // Computed with sha256sum from the two texts above.
  expect(await select("select number, name, sha256 from schema_migration order by 1")).toEqual([
    { number: 1, name: "0001_shelf.sql", sha256: "1d027b5ba41245e54b540e6c45ec18cd674fc22759a9cbbb7e388cee72db92d7" },
    { number: 2, name: "0002_book.sql", sha256: "ee8bce4406acdac87ac22b608310d1d9a30a0aba9c5271773b3a0ee688a7d873" },
  ]);
});

test("the migrations of this build apply to an empty database", async () => {
  const migrations = (await readMigrations()).map(({ name }) => name);
  const functions = (await readFunctions()).map(({ name }) => `functions/${name}.sql`);
  expect((await migrate(database.url)).applied).toEqual([...migrations, ...functions]);
  expect((await migrate(database.url)).applied).toEqual([]);
});

test("if a file was edited after it was applied, the error names the file and the next step", async () => {
  await migrate(database.url, { folder });
  await write("0001_shelf.sql", "create table shelf (id uuid primary key)");
  await expect(migrate(database.url, { folder })).rejects.toThrow(
    /0001_shelf\.sql was edited after it was applied.*new file with the next number/s,
  );
});

describe("the checksum of a migration whose comments were rewritten", () => {
  const NAME = "0002_clock.sql";
  /** The statements of the migration NAME. The first text of this migration also had comments. */
  const STATEMENTS = `create table lab_clock (
  only_row boolean primary key default true check (only_row),
  ahead    interval not null default interval '0' check (ahead >= interval '0')
);
insert into lab_clock default values;

create function berth_now() returns timestamptz language sql volatile parallel safe as
  $$ select date_trunc('milliseconds', clock_timestamp()) + ahead from lab_clock $$;
`;
  /** Computed with sha256sum from the first text. Databases that applied the first text recorded this value. */
  const FIRST_SHA256 = "6d5a33e3f5048ece9ed1f66d0ea9ec4d5bf7f38d99f8d1c8feefd0ab375e8dcd";
  const checksumOf = async (sql: string) => {
    const copies = new URL("copies/", folder);
    await mkdir(copies, { recursive: true });
    await writeFile(new URL(NAME, copies), sql);
    return (await readMigrations(copies))[0]!.sha256;
  };

  test("is the checksum in FIRST_CHECKSUMS, for each file of this list", async () => {
    const listed = FIRST_CHECKSUMS.trim().split("\n").map((line) => line.split(" ").slice(0, 2));
    const files = new Map((await readMigrations()).map(({ name, sha256 }) => [name, sha256]));
    expect(listed.map(([name]) => [name, files.get(name!)])).toEqual(listed);
  });

  test("is the checksum of its first text, whatever its comment lines are", async () => {
    expect(await checksumOf(STATEMENTS)).toBe(FIRST_SHA256);
    expect(await checksumOf(`-- A comment.\n${STATEMENTS}  -- Another comment.\n`)).toBe(FIRST_SHA256);
    const of_this_build = await readFile(new URL(`../../migrations/${NAME}`, import.meta.url), "utf8");
    expect(await checksumOf(of_this_build)).toBe(FIRST_SHA256);
  });

  test("changes with a statement, and with a comment in the body of a function", async () => {
    expect(await checksumOf(`${STATEMENTS}select 1;\n`)).not.toBe(FIRST_SHA256);
    expect(await checksumOf(STATEMENTS.replace("$$", "$$\n-- a comment\n"))).not.toBe(FIRST_SHA256);
  });
});

test("a file with CRLF instead of LF does not count as edited", async () => {
  await write("0003_note.sql", "create table note (\n  id bigint\n)");
  await migrate(database.url, { folder });
  await write("0003_note.sql", "create table note (\r\n  id bigint\r\n)");
  expect(await migrate(database.url, { folder })).toEqual({ applied: [] });
});

test("a new file is rejected if its number is below the number of an applied file", async () => {
  await write("0009_last.sql", "create table last_one (id bigint)");
  await migrate(database.url, { folder });
  await write("0005_late.sql", "create table late (id bigint)");
  await expect(migrate(database.url, { folder })).rejects.toThrow(/0005_late\.sql was not applied.*next free number/s);
});

test("a database that a newer build has migrated is not changed", async () => {
  const older = new URL("older/", folder);
  await mkdir(older);
  await copyFile(new URL("0001_shelf.sql", folder), new URL("0001_shelf.sql", older));
  await migrate(database.url, { folder });
  expect(await migrate(database.url, { folder: older })).toEqual({ applied: [] });
});

test("a migration that fails changes nothing, and is applied after its correction", async () => {
  await write("0003_bad.sql", "create table half (id bigint); select no_such_function()");
  await expect(migrate(database.url, { folder })).rejects.toThrow(/0003_bad\.sql failed: .*no_such_function/);
  expect(await select("select to_regclass('half') as half, count(*) as applied from schema_migration")).toEqual([
    { half: null, applied: 2 },
  ]);
  await write("0003_bad.sql", "create table half (id bigint)");
  expect(await migrate(database.url, { folder })).toEqual({ applied: ["0003_bad.sql"] });
});

test("if a reader and a migration wait for each other's tables, the reader succeeds and the migration tries again", async () => {
  await migrate(database.url, { folder });
  await write(
    "0003_wide.sql",
    "alter table shelf add column width int; select pg_sleep(0.1); alter table book add column width int",
  );
  const reader = await openClient({ url: database.url });
  try {
    await reader.query("begin");
    await reader.query("select id from book");
    const migrated = migrate(database.url, { folder });
    // The migration holds a lock on the first table, and the reader holds a lock on the second table.
    const held = `select from pg_locks l join pg_class c on c.oid = l.relation
                   where c.relname = 'shelf' and l.mode = 'AccessExclusiveLock' and l.granted`;
    await expect.poll(() => select(held), { interval: 1, timeout: 10_000 }).toHaveLength(1);
    expect((await reader.query("select id from shelf")).rows).toEqual([]);
    await reader.query("commit");
    expect(await migrated).toEqual({ applied: ["0003_wide.sql"] });
  } finally {
    await reader.end();
  }
});

test("two files with the same number are rejected", async () => {
  await write("0002_again.sql", "select 1");
  await expect(migrate(database.url, { folder })).rejects.toThrow(
    /0002_again\.sql and 0002_book\.sql have the same number/,
  );
});

test("of three processes that migrate at the same time, one applies the files, and the others find no file to apply", async () => {
  await write("0003_slow.sql", "create table slow as select 1 as one from pg_sleep(0.5)");
  const counts = await Promise.all(
    [1, 2, 3].map(() => startProgram("migrate-once", database.url, folder.href).firstLine),
  );
  expect(counts.sort()).toEqual(["0", "0", "3"]);
});

describe("functions", () => {
  const ONE = "create or replace function one() returns int language sql as 'select 1'";
  const called = async () => (await select<{ one: number }>("select one()"))[0]?.one;
  const RECORD =
    "create table schema_function (name text primary key, sha256 text, release text, applied_at timestamptz)";

  beforeEach(async () => {
    await mkdir(new URL("functions/", folder));
    await write("0003_record.sql", RECORD);
    await write("functions/one.sql", ONE);
  });

  test("are applied after the migrations, and again when the file changes", async () => {
    expect((await migrate(database.url, { folder })).applied.at(-1)).toBe("functions/one.sql");
    expect(await migrate(database.url, { folder })).toEqual({ applied: [] });
    await write("functions/one.sql", ONE.replace("select 1", "select 11"));
    expect(await migrate(database.url, { folder })).toEqual({ applied: ["functions/one.sql"] });
    expect(await called()).toBe(11);
  });

  test("may call a function that a later file creates", async () => {
    await write(
      "functions/half.sql",
      "create or replace function half() returns int language sql as 'select one() / 2'",
    );
    expect((await migrate(database.url, { folder })).applied.slice(-2)).toEqual([
      "functions/half.sql",
      "functions/one.sql",
    ]);
  });

  test.each([
    ["syntax", "create or replace function bad() returns int language plpgsql as 'begin retrun 1; end'", /retrun/],
    [
      "a missing table",
      "create or replace function bad() returns int language sql as 'select n from nowhere'",
      /nowhere/,
    ],
    [
      "its statement",
      "create or replace function bad() returns no_type language sql as 'select 1'",
      /bad\.sql: .*no_type/,
    ],
  ])("are all applied, or none of them if one is invalid because of %s", async (_what, bad, error) => {
    await migrate(database.url, { folder });
    await write("functions/one.sql", ONE.replace("select 1", "select 11"));
    await write("functions/bad.sql", bad);
    await expect(migrate(database.url, { folder })).rejects.toThrow(error);
    expect(await called()).toBe(1);
  });

  test("of a later release are not replaced when an older release starts", async () => {
    await write("functions/one.sql", ONE.replace("select 1", "select 11"));
    await migrate(database.url, { folder, release: "0.10.0" });
    await write("functions/one.sql", ONE);
    expect(await migrate(database.url, { folder, release: "0.9.1" })).toEqual({ applied: [] });
    expect(await called()).toBe(11);
    expect(await migrate(database.url, { folder, release: "0.10.0" })).toEqual({ applied: ["functions/one.sql"] });
  });

  test("are not replaced when a newer build has migrated the database", async () => {
    await write("0004_later.sql", "create table later (id bigint)");
    await migrate(database.url, { folder });
    await rm(new URL("0004_later.sql", folder));
    await write("functions/one.sql", ONE.replace("select 1", "select 11"));
    expect(await migrate(database.url, { folder })).toEqual({ applied: [] });
  });

  test("are rejected if a file does not create the function that its name states", async () => {
    await write("functions/two.sql", ONE);
    await expect(migrate(database.url, { folder })).rejects.toThrow(
      /functions\/two\.sql must be named as the function/,
    );
  });

  test("of this build each have a file of their own", async () => {
    await migrate(database.url);
    const found = await select<{ name: string }>(
      `select distinct proname as name from pg_proc p where pronamespace = 'public'::regnamespace
          and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e') order by 1`,
    );
    expect(found.map(({ name }) => name)).toEqual((await readFunctions()).map(({ name }) => name));
  });
});
