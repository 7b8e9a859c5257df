// What the server may do in its database, as a user that is no more than berth_app. Reliability rule S-37.
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Db, openPool, sqlState } from "../../src/db/pool.ts";
import { type FreshDatabase, freshDatabase } from "../harness/database.ts";

const USER = `probe_${randomBytes(6).toString("hex")}`;
let database: FreshDatabase;
let owner: Db;
let app: Db;

beforeAll(async () => {
  database = await freshDatabase();
  owner = openPool({ url: database.url, connectionsMax: 2 });
  // Rights of a database do not go into its copies.
  await owner.query(await readFile("migrations/0032_no_temporary_tables.sql", "utf8"));
  await owner.query(`create role ${USER} login password 'probe' in role berth_app`);
  const url = new URL(database.url);
  url.username = USER;
  url.password = "probe";
  app = openPool({ url: url.href, role: "berth_app", connectionsMax: 2 });
});

afterAll(async () => {
  await app.close();
  await owner.query(`drop role ${USER}`);
  await owner.close();
  await database.drop();
});

const FORBIDDEN = [
  "create table t (id int)",
  "create temporary table cn (id int)",
  "create temporary view cn as select 1",
  "create view v as select 1",
  "create schema s",
  "create sequence s",
  "create type t as enum ('a')",
  "create function f() returns int language sql as 'select 1'",
  "create procedure p() language sql as 'select 1'",
  "create extension pgcrypto",
  "create database d",
  "create role r",
  "create index on cn (hostname)",
  "create rule r as on delete to cn do instead nothing",
  "create policy p on cn",
  "create publication p for all tables",
  "create event trigger e on ddl_command_start execute function suppress_redundant_updates_trigger()",
  "alter table cn add column x text",
  "alter table cn disable trigger all",
  "alter table cn owner to berth_app",
  "alter table cn disable row level security",
  "alter role berth_app superuser",
  `alter role ${USER} createrole`,
  "alter system set fsync = off",
  "alter function berth_now() rename to other_now",
  "drop table cn",
  "drop schema public cascade",
  "drop function berth_now()",
  "drop role berth_reader",
  "truncate cn",
  "truncate audit_event",
  "truncate transition",
  "update transition set event = 'x'",
  "delete from transition",
  "update audit_event set canonical = '{}'",
  "delete from audit_event",
  "delete from audit_head",
  "update server_secret set secret = ''",
  "delete from server_secret",
  "update schema_migration set sha256 = ''",
  "delete from schema_migration",
  "set role berth",
  "set session authorization berth",
  "set session_replication_role = replica",
  "copy cn to program 'cat'",
  "copy cn from '/etc/passwd'",
  "copy cn to '/tmp/cn'",
  "select pg_read_file('PG_VERSION')",
  "select pg_ls_dir('.')",
  "select lo_import('/etc/passwd')",
  "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'berth' limit 1",
  "select pg_reload_conf()",
  "select rolpassword from pg_authid",
  "vacuum full cn",
] as const;

describe("S-37: the application", () => {
  test.each(FORBIDDEN)("may not: %s", async (sql) => {
    // A table of nobody else's: the right is missing, not the table. `vacuum` passes over what it may not touch.
    const outcome = await app.query(sql).then(() => "done", sqlState);
    if (sql.startsWith("vacuum")) return expect(await lastVacuum()).toBeNull();
    expect(outcome).toBe("42501");
  });

  test("was asked for at least the 40 statements that the rule asks for", () => {
    expect(FORBIDDEN.length).toBeGreaterThanOrEqual(40);
  });

  test("has on every table what its work needs, and nothing else on any", async () => {
    const usual = "SELECT INSERT UPDATE DELETE";
    const { rows } = await owner.query<{ name: string; rights: string; read: string }>(
      `select c.relname as name, ${rightsOf("berth_app")} as rights, ${rightsOf("berth_reader")} as read
         from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
          and not c.relispartition order by c.relname`,
    );
    expect(rows.length).toBeGreaterThan(40);
    expect(Object.fromEntries(rows.filter(({ rights }) => rights !== usual).map(({ name, rights }) => [name, rights])))
      .toEqual({
        audit_event: "SELECT INSERT",
        audit_head: "SELECT UPDATE",
        schema_migration: "SELECT",
        server_secret: "SELECT INSERT",
        transition: "SELECT INSERT",
      });
    const unread = rows.filter(({ read }) => read !== "SELECT");
    expect(unread.map(({ name, read }) => [name, read])).toEqual([["server_secret", ""]]);
  });

  test("is nobody special, cannot log in by itself, and owns nothing", async () => {
    const { rows } = await owner.query(
      `select rolname, rolsuper, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication, rolbypassrls,
              (select count(*) from pg_class where relowner = r.oid) + (select count(*) from pg_proc where proowner = r.oid)
              + (select count(*) from pg_namespace where nspowner = r.oid) as owned
         from pg_roles r where rolname in ('berth_app', 'berth_reader') order by rolname`,
    );
    const none = { rolsuper: false, rolcreaterole: false, rolcreatedb: false, rolcanlogin: false };
    const rest = { rolreplication: false, rolbypassrls: false, owned: 0 };
    expect(rows).toEqual(["berth_app", "berth_reader"].map((rolname) => ({ rolname, ...none, ...rest })));
  });
});

/** The rights that a role has on the table `c`, in words. */
function rightsOf(role: string): string {
  const words = ["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"];
  const each = words.map((word) => `case when has_table_privilege('${role}', c.oid, '${word}') then '${word}' end`);
  return `concat_ws(' ', ${each.join(", ")})`;
}

async function lastVacuum(): Promise<unknown> {
  const { rows } = await owner.query("select last_vacuum from pg_stat_user_tables where relname = 'cn'");
  return rows[0].last_vacuum;
}
