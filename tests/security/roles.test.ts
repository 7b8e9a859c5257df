// Tests the server's rights in its database with the login of a running server. docs/reliability.md S-37.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Db, openPool, sqlState } from "../../src/db/pool.ts";
import { settingsIn } from "../guides/guide.ts";
import { ownCluster } from "../support/cluster.ts";
import { databaseUrl } from "../support/database-url.ts";
import { startServer } from "../support/server-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A placeholder for the server's login in the statements below. */
const SELF = "SELF";
const LIMIT_MS = 120_000;

/** A database of a running server, with the URLs of the server and of the owner. */
type Database = {
  readonly login: string;
  /** The URL that the server uses. */
  readonly url: string;
  readonly ownerUrl: string;
  remove(): Promise<void>;
};

/** `task start` without DATABASE_URL: the embedded PostgreSQL. */
async function embedded(): Promise<Database> {
  const folder = await temporaryFolder("roles");
  const server = await startServer({ as_task: true, env: { BERTH_DATA_DIR: folder.path, DATABASE_URL: undefined } });
  const read = (name: string) => readFile(join(folder.path, name), "utf8");
  const [url, ownerUrl] = await Promise.all([read("url"), read("owner-url")]);
  return {
    ...{ login: new URL(url).username, url, ownerUrl },
    async remove() {
      await server.stop();
      await folder.remove();
    },
  };
}

/** `task start` on a PostgreSQL that was prepared with the statements of the installation guide. */
async function guided(): Promise<Database> {
  const cluster = await ownCluster({ fsync: "off" });
  const administrator = openPool({ url: cluster.url, connectionsMax: 1 });
  // The guide expects a PostgreSQL without Berth's roles. The guide's login `berth` is renamed to `site` below, because
  // the superuser of this server is also named berth.
  await administrator.query("drop owned by berth_app, berth_reader, berth_owner, berth_server");
  await administrator.query("alter database berth owner to berth");
  await administrator.query("drop role berth_app, berth_reader, berth_owner, berth_server");
  const [block = ""] = settingsIn(await readFile("docs/guides/install.md", "utf8"), "sql");
  const statements = block.replace(/\bberth\b/g, "site").split(";").map((each) => each.trim()).filter(Boolean);
  for (const each of statements) await administrator.query(each);
  await administrator.close();
  const urlOf = (username: string, password: string) =>
    Object.assign(new URL(databaseUrl(cluster.url, "site")), { username, password }).href;
  const [url, ownerUrl] = [urlOf("site", "change-this"), urlOf("berth_owner", "change-this-owner")];
  const server = await startServer({ as_task: true, env: { DATABASE_URL: url, BERTH_OWNER_DATABASE_URL: ownerUrl } });
  return {
    ...{ login: "site", url, ownerUrl },
    async remove() {
      await server.stop();
      await cluster.remove();
    },
  };
}

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
  `alter role ${SELF} createrole`,
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
  "insert into audit_segment select * from audit_segment",
  "update audit_segment set content = ''",
  "delete from audit_segment",
  "update log_retention set dropped_before = berth_now()",
  "update server_secret set secret = ''",
  "delete from server_secret",
  "update secret_check set derived = ''",
  "delete from secret_check",
  "update schema_migration set sha256 = ''",
  "delete from schema_migration",
  "set role berth_owner",
  "set session authorization berth_owner",
  `grant berth_owner to ${SELF}`,
  "grant pg_read_all_data to berth_app",
  "set session_replication_role = replica",
  "copy cn to program 'cat'",
  "copy cn from '/etc/passwd'",
  "copy cn to '/tmp/cn'",
  "select pg_read_file('PG_VERSION')",
  "select pg_ls_dir('.')",
  "select lo_import('/etc/passwd')",
  "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'berth_owner'",
  "select pg_reload_conf()",
  "select rolpassword from pg_authid",
  "vacuum full cn",
] as const;

const DATABASES = [["the embedded PostgreSQL", embedded], ["a PostgreSQL prepared by the guide", guided]] as const;

describe.each(DATABASES)("S-37: the application, started by `task start` on %s,", (_name, open) => {
  let database: Database;
  let owner: Db;
  /** Connections with the login's own rights (as after RESET ROLE), and with the role that the server sets. */
  const sessions = new Map<string, Db>();

  beforeAll(async () => {
    database = await open();
    owner = openPool({ url: database.ownerUrl, connectionsMax: 2 });
    await owner.query("select"); // Opens a connection that pg_terminate_backend could end.
    sessions.set("its login", openPool({ url: database.url, connectionsMax: 2 }));
    sessions.set("its role", openPool({ url: database.url, role: "berth_app", connectionsMax: 2 }));
  }, LIMIT_MS);
  afterAll(async () => {
    for (const each of [...sessions.values(), owner]) await each?.close();
    await database?.remove();
  }, LIMIT_MS);

  test.each(FORBIDDEN)("may not: %s", async (sql) => {
    for (const [as, session] of sessions) {
      const before = await fileOfNodes();
      const outcome = await session.query(sql.replaceAll(SELF, database.login)).then(() => "done", sqlState);
      // `vacuum` skips tables without permission instead of failing. `vacuum full` writes a new file.
      if (sql.startsWith("vacuum")) expect([as, await fileOfNodes()]).toEqual([as, before]);
      else expect([as, outcome]).toEqual([as, "42501"]);
    }
  });

  test("was tested with at least 40 statements, as S-37 requires", () => {
    expect(FORBIDDEN.length).toBeGreaterThanOrEqual(40);
  });

  test("uses the role berth_app, and is refused only for missing rights: the owner may run such statements", async () => {
    expect(await userOf(sessions.get("its role")!)).toEqual({
      session_user: database.login,
      current_user: "berth_app",
    });
    expect(await userOf(sessions.get("its login")!)).toEqual({
      session_user: database.login,
      current_user: database.login,
    });
    for (const sql of ["create table t (id int)", "truncate audit_event", "delete from transition", "drop table t"]) {
      expect([sql, await owner.query(sql).then(() => "done", sqlState)]).toEqual([sql, "done"]);
    }
  });

  test("has exactly the roles and grants of the snapshot", async () => {
    const { rows: roles } = await owner.query(
      `select rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication, rolbypassrls,
              array(select format('%s%s%s', g.rolname, case when m.inherit_option then ' inherit' else '' end,
                                  case when m.admin_option then ' admin' else '' end)
                      from pg_auth_members m join pg_roles g on g.oid = m.roleid where m.member = r.oid order by 1) as "in"
         from pg_roles r where rolname in ('berth_app', 'berth_reader', $1) order by rolname`,
      [database.login],
    );
    const { rows: grants } = await owner.query<{ name: string; app: string; login: string; reader: string }>(
      `select c.relname as name, ${rightsOf("berth_app")} as app, ${rightsOf(database.login)} as login,
              ${rightsOf("berth_reader")} as reader
         from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
          and not c.relispartition order by c.relname`,
    );
    expect(grants.length).toBeGreaterThan(40);
    expect(grants.filter(({ app, login }) => app !== login)).toEqual([]);
    const { rows: owned } = await owner.query(
      `select relname as name from pg_class where pg_get_userbyid(relowner) = any($1)
       union all select proname from pg_proc where pg_get_userbyid(proowner) = any($1)
       union all select nspname from pg_namespace where pg_get_userbyid(nspowner) = any($1)
       union all select datname from pg_database where pg_get_userbyid(datdba) = any($1)`,
      [["berth_app", "berth_reader", database.login]],
    );
    expect(owned).toEqual([]);
    const lines = [
      ...roles.map((role) => JSON.stringify(role).replaceAll(`"${database.login}"`, `"the login"`)),
      ...grants.map(({ name, app, reader }) => `${name}: app ${app || "nothing"}; reader ${reader || "nothing"}`),
    ];
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("__snapshots__/roles-and-grants.txt");
  });

  test("cannot change history, and cannot truncate any table", async () => {
    const { rows } = await owner.query<{ name: string; rights: string }>(
      `select c.relname as name, ${rightsOf(database.login)} as rights from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') order by c.relname`,
    );
    expect(rows.filter(({ rights }) => /TRUNCATE|REFERENCES|TRIGGER/.test(rights))).toEqual([]);
    const rights = Object.fromEntries(rows.map(({ name, rights }) => [name, rights]));
    expect(rights).toMatchObject({
      audit_event: "SELECT INSERT",
      audit_head: "SELECT UPDATE",
      schema_migration: "SELECT",
      secret_check: "SELECT INSERT",
      server_secret: "SELECT INSERT",
      transition: "SELECT INSERT",
    });
  });

  test("the owner's `vacuum full cn` writes a new file", async () => {
    const before = await fileOfNodes();
    await owner.query("vacuum full cn");
    expect(await fileOfNodes()).not.toBe(before);
  });

  async function fileOfNodes(): Promise<unknown> {
    const { rows } = await owner.query("select pg_relation_filenode('cn') as file");
    return rows[0].file;
  }
});

const userOf = async (db: Db) => (await db.query("select session_user::text, current_user::text")).rows[0];

/** Returns SQL for the names of the rights that a role has on the table `c`. */
function rightsOf(role: string): string {
  const rights = ["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"];
  const each = rights.map((name) => `case when has_table_privilege('${role}', c.oid, '${name}') then '${name}' end`);
  return `concat_ws(' ', ${each.join(", ")})`;
}
