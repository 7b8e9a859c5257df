// Tests the rights of the database roles berth_app and berth_reader, and the creation of these roles.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrate } from "../../src/db/migrate.ts";
import { type Db, openClient, openPool, sqlState } from "../../src/db/pool.ts";
import { ownCluster } from "../support/cluster.ts";
import { databaseUrl } from "../support/database-url.ts";
import { emptyDatabase, type FreshDatabase, freshDatabase } from "../support/database.ts";

let database: FreshDatabase;
let app: Db;
let owner: Db;

beforeAll(async () => {
  database = await freshDatabase();
  owner = openPool({ url: database.url });
  // Creates objects without explicit grants, as a later migration may do.
  await owner.query("create table shelf (id bigint generated always as identity primary key, name text not null)");
  await owner.query(
    "create function shelf_name(bigint) returns text language sql as 'select name from shelf where id = $1'",
  );
  app = openPool({ url: database.url, role: "berth_app" });
});

afterAll(async () => {
  await app.close();
  await owner.close();
  await database.drop();
});

test("each connection of the pool uses the role berth_app", async () => {
  const roles = await Promise.all([1, 2, 3].map(() => app.query("select current_user::text as name")));
  expect(roles.map(({ rows }) => rows[0].name)).toEqual(["berth_app", "berth_app", "berth_app"]);
});

test("the application's role can read and write the tables that migrations create", async () => {
  const { rows } = await app.query("insert into shelf (name) values ('steel') returning id");
  await app.query("update shelf set name = 'iron' where id = $1", [rows[0].id]);
  expect((await app.query("select shelf_name($1) as name", [rows[0].id])).rows).toEqual([{ name: "iron" }]);
  expect((await app.query("delete from shelf")).rowCount).toBe(1);
});

test.each([
  "create table own (id bigint)",
  "create schema own",
  "create function own() returns int language sql as 'select 1'",
  "alter table shelf add column more text",
  "alter table shelf disable trigger all",
  "drop table shelf",
  "truncate shelf",
  "create index on shelf (name)",
  "alter table shelf owner to berth_app",
  "create trigger t before insert on shelf for each row execute function suppress_redundant_updates_trigger()",
  "update schema_migration set sha256 = ''",
  "delete from schema_migration",
  "update schema_function set sha256 = ''",
  "create or replace function berth_now() returns timestamptz language sql as 'select now()'",
  "create role intruder",
  "alter role berth_app superuser",
  "alter system set fsync = off",
  "copy shelf to program 'cat'",
  "select pg_read_file('PG_VERSION')",
])("S-37: the application may not: %s", async (sql) => {
  expect(await app.query(sql).then(() => "done", sqlState)).toBe("42501");
});

test("the role berth_reader can read but not write", async () => {
  const reader = openPool({ url: database.url, role: "berth_reader" });
  try {
    expect((await reader.query("select count(*) as n from shelf")).rows).toEqual([{ n: 0 }]);
    expect(await reader.query("insert into shelf (name) values ('x')").catch(sqlState)).toBe("42501");
  } finally {
    await reader.close();
  }
});

test("if the role does not exist, the pool uses the URL's user", async () => {
  const pool = openPool({ url: database.url, role: "no_such_role" });
  try {
    expect((await pool.query("select current_user::text as name")).rows).toEqual([{ name: "berth" }]);
  } finally {
    await pool.close();
  }
});

test("several databases of one PostgreSQL server can be migrated at the same time", async () => {
  const databases = await Promise.all([1, 2, 3, 4].map(() => emptyDatabase()));
  try {
    const applied = await Promise.all(databases.map(({ url }) => migrate(url).then((outcome) => outcome.applied[0])));
    expect(applied).toEqual(Array(4).fill("0001_roles.sql"));
  } finally {
    await Promise.all(databases.map(({ drop }) => drop()));
  }
});

/** Creates a role that is not a superuser, and a database that this role owns. Returns the URL. */
async function ownedDatabase(serverUrl: string, right: "createrole" | "nocreaterole"): Promise<string> {
  const name = `owner_${randomBytes(6).toString("hex")}`;
  const admin = await openClient({ url: serverUrl });
  await admin.query(`create role ${name} login password 'secret' ${right}`);
  await admin.query(`create database ${name} owner ${name}`);
  await admin.end();
  const url = new URL(databaseUrl(serverUrl, name));
  url.username = name;
  url.password = "secret";
  return url.href;
}

async function whoAfterMigration(url: string): Promise<string> {
  await migrate(url);
  const pool = openPool({ url, role: "berth_app" });
  try {
    await pool.query("select count(*) from schema_migration");
    return (await pool.query("select current_user::text as name")).rows[0].name;
  } finally {
    await pool.close();
  }
}

test("a database owner with CREATEROLE creates the roles; without CREATEROLE, the server works with the owner's login", async () => {
  // Roles belong to a whole PostgreSQL server, so this test needs a server on which the roles do not exist.
  const cluster = await ownCluster({ fsync: "off" });
  try {
    const admin = await openClient({ url: cluster.url });
    await admin.query("drop owned by berth_app, berth_reader");
    await admin.query("drop role berth_app, berth_reader");
    await admin.end();
    const without = await ownedDatabase(cluster.url, "nocreaterole");
    expect(await whoAfterMigration(without)).toBe(new URL(without).username);
    expect(await whoAfterMigration(await ownedDatabase(cluster.url, "createrole"))).toBe("berth_app");
  } finally {
    await cluster.remove();
  }
});
