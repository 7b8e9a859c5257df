// Tests the logins of the embedded PostgreSQL: the login that `task start` uses, and the upgrade from release 0.1.0.
// That release logged in as the superuser.
import { readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startEmbedded } from "../../src/db/embedded.ts";
import { migrate } from "../../src/db/migrate.ts";
import { openClient, openPool, sqlState } from "../../src/db/pool.ts";
import { ROOT_KEY, startServer } from "../support/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

const LIMIT_MS = 120_000;
const settings = { fsync: "off" };
let folder: TemporaryFolder;
const at = (name: string) => join(folder.path, name);

beforeEach(async () => {
  folder = await temporaryFolder("logins");
});
afterEach(() => folder.remove());

// deno-lint-ignore no-explicit-any -- the statements return rows of different shapes
async function rowsOf(url: string, sql: string): Promise<any[]> {
  const client = await openClient({ url });
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

const ME = `select rolname, rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls
  from pg_roles where rolname = session_user`;
const plain = (rolname: string) => ({
  rolname,
  ...{ rolsuper: false, rolcreaterole: false, rolcreatedb: false, rolreplication: false, rolbypassrls: false },
});
const FOREIGN = `select relname from pg_class where relnamespace = 'public'::regnamespace
     and pg_get_userbyid(relowner) <> 'berth_owner'
  union all select proname from pg_proc where pronamespace = 'public'::regnamespace
     and pg_get_userbyid(proowner) <> 'berth_owner'
     and not exists (select from pg_depend d where d.objid = pg_proc.oid and d.deptype = 'e')
  union all select datname from pg_database where datname = 'berth' and pg_get_userbyid(datdba) <> 'berth_owner'`;

describe("`task start` without DATABASE_URL", { timeout: LIMIT_MS }, () => {
  test("S-37: uses a login that owns nothing and is not a superuser, and the superuser cannot log in", async () => {
    const server = await startServer({ as_task: true, env: { BERTH_DATA_DIR: folder.path, DATABASE_URL: undefined } });
    try {
      const url = await readFile(at("url"), "utf8");
      expect(await rowsOf(url, ME)).toEqual([plain("berth_server")]);
      const ownerUrl = await readFile(at("owner-url"), "utf8");
      expect(await rowsOf(ownerUrl, ME)).toEqual([plain("berth_owner")]);
      expect(await rowsOf(ownerUrl, FOREIGN)).toEqual([]);
      // All parts of the control plane use this application_name.
      const users = await rowsOf(url, "select distinct usename from pg_stat_activity where application_name = 'berth'");
      expect(users).toEqual([{ usename: "berth_server" }]);
      for (const database of ["berth", "postgres"]) {
        const superuser = Object.assign(new URL(url), {
          username: "berth",
          password: await readFile(at("password"), "utf8"),
          pathname: `/${database}`,
        });
        await expect(openClient({ url: superuser.href })).rejects.toThrow(/no pg_hba.conf entry for host/);
        const other = Object.assign(new URL(url), { pathname: "/postgres" });
        await expect(openClient({ url: other.href })).rejects.toThrow(/no pg_hba.conf entry for host/);
      }
      const rules = await readFile(at("pg/berth_hba.conf"), "utf8");
      expect(rules.match(/\S+$/gm)).toEqual(["scram-sha-256", "scram-sha-256"]);
      // A second process with the same URL does not need the owner's login, because the database is already migrated.
      const second = await startServer({ env: { DATABASE_URL: url } });
      expect(await second.stop()).toBe(0);
      await rowsOf(ownerUrl, "delete from schema_migration where number = (select max(number) from schema_migration)");
      await expect(startServer({ env: { DATABASE_URL: url } })).rejects.toThrow(
        /migrations\/\d{4}_\w+\.sql failed: .*\. Set BERTH_OWNER_DATABASE_URL to the address of the user that owns/,
      );
      for (const name of ["url", "owner-url", "logins", "password", "pg/berth_hba.conf"]) {
        expect([name, (await stat(at(name))).mode & 0o777]).toEqual([name, 0o600]);
      }
    } finally {
      await server.stop();
    }
    for (const name of ["url", "owner-url"]) await expect(stat(at(name))).rejects.toThrow(/ENOENT/);
  });
});

test("the owner login can replace all its tables, as a restore of a dump does", async () => {
  const server = await startEmbedded({ dataDir: folder.path, settings });
  try {
    await migrate(server.ownerUrl);
    await rowsOf(server.ownerUrl, "drop owned by berth_owner");
    await expect(rowsOf(server.ownerUrl, "select from silo")).rejects.toThrow(/does not exist/);
    // A dump contains this statement, and the restore ends if the statement is refused.
    await rowsOf(server.ownerUrl, "grant usage on schema public to berth_app");
    await migrate(server.ownerUrl);
    expect(await rowsOf(server.url, "select from silo")).toEqual([]);
    expect(await rowsOf(server.ownerUrl, FOREIGN)).toEqual([]);
  } finally {
    await server.stop();
  }
}, LIMIT_MS);

describe("a data folder of release 0.1.0", { timeout: LIMIT_MS }, () => {
  /** Creates a cluster as release 0.1.0 did. Its only login is the superuser, which owns everything. */
  async function makeOld(): Promise<void> {
    const server = await startEmbedded({ dataDir: folder.path, settings, superuser: true });
    const url = server.superuserUrl!;
    await rowsOf(url, "alter database berth owner to berth");
    await rowsOf(url, "reassign owned by berth_owner to berth");
    for (const role of ["berth_owner", "berth_server", "berth_app", "berth_reader"]) {
      await rowsOf(url, `drop owned by ${role}`);
      await rowsOf(url, `drop role ${role}`);
    }
    await migrate(url);
    await rowsOf(
      url,
      `create type kept_kind as enum ('a'); create table kept (id serial primary key, kind kept_kind default 'a');
       insert into kept default values`,
    );
    expect((await rowsOf(url, FOREIGN)).length).toBeGreaterThan(100);
    await server.stop();
    for (const name of ["logins", "pg/berth_hba.conf"]) await rm(at(name));
  }

  test("S-37: keeps its data when the new release opens it, and the owner login then owns the tables", async () => {
    await makeOld();
    const env = { BERTH_DATA_DIR: folder.path, DATABASE_URL: undefined };
    let server = await startServer({ as_task: true, env });
    const call = (path: string, body?: unknown) =>
      fetch(server.url + path, {
        method: body === undefined ? "GET" : "POST",
        headers: { authorization: `Bearer ${ROOT_KEY}`, "content-type": "application/json" },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
    try {
      expect((await call("/v1/silos", { name: "acme", description: "" })).status).toBe(201);
      const [url, ownerUrl] = [await readFile(at("url"), "utf8"), await readFile(at("owner-url"), "utf8")];
      expect(await rowsOf(url, ME)).toEqual([plain("berth_server")]);
      expect(await rowsOf(ownerUrl, FOREIGN)).toEqual([]);
      expect(await rowsOf(url, "insert into kept default values returning id, kind")).toEqual([{ id: 2, kind: "a" }]);
      // The server must also be able to use objects of a later migration that has no explicit grants.
      await rowsOf(ownerUrl, "create table later (id serial primary key)");
      expect(await rowsOf(url, "insert into later default values returning id")).toEqual([{ id: 1 }]);
      await expect(rowsOf(url, "drop table later")).rejects.toSatisfy((error) => sqlState(error) === "42501");
    } finally {
      await server.stop();
    }
    server = await startServer({ as_task: true, env });
    try {
      expect(await (await call("/v1/silos")).text()).toContain(`"acme"`);
    } finally {
      await server.stop();
    }
  });

  test("can be opened after a first start that was interrupted", async () => {
    await makeOld();
    const first = await startEmbedded({ dataDir: folder.path, settings });
    await first.stop();
    // This is the state after an interruption: the logins exist, but the file with their passwords does not.
    await rm(at("logins"));
    const second = await startEmbedded({ dataDir: folder.path, settings });
    try {
      expect(second.url).not.toBe(first.url);
      await migrate(second.ownerUrl);
      const pool = openPool({ url: second.url, role: "berth_app", connectionsMax: 1 });
      expect((await pool.query("select current_user::text as name")).rows).toEqual([{ name: "berth_app" }]);
      await pool.close();
    } finally {
      await second.stop();
    }
  });

  test("keeps its pg_hba.conf and the superuser's password, so that release 0.1.0 can open it again", async () => {
    await makeOld();
    const before = await readFile(at("pg/pg_hba.conf"), "utf8");
    const password = await readFile(at("password"), "utf8");
    await (await startEmbedded({ dataDir: folder.path, settings })).stop();
    expect(await readFile(at("pg/pg_hba.conf"), "utf8")).toBe(before);
    expect(await readFile(at("password"), "utf8")).toBe(password);
  });
});
