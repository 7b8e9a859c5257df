// Creates the logins of the embedded server. The control plane uses `berth_server`, which has exactly the rights of
// `berth_app`; `berth_owner` owns the database and migrates it. Neither is a superuser, and neither may create roles.
// The superuser that initdb creates is used only in single-user mode, before the server starts. The server rejects
// logins of the superuser, except in tests.
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Cluster, DATABASE, inSingleUserMode, ownBy } from "./cluster-init.ts";
import { writeSecret } from "./data-folder.ts";

export const SERVER_LOGIN = "berth_server";
export const OWNER_LOGIN = "berth_owner";

export type Logins = { readonly server: string; readonly owner: string };

const PASSWORD_BYTES = 24;
/** Returns the SQL that creates a role as migrations/0001_roles.sql does, unless the role exists. */
const ROLE = (name: string) =>
  `do $$ begin if not exists (select from pg_roles where rolname = '${name}') then
     create role ${name} nologin noinherit; end if; end $$`;
const PLAIN = "nosuperuser nocreaterole nocreatedb noreplication nobypassrls";

/**
 * Returns the SQL that creates or resets a login. `password` is base64url, so it contains no character that needs
 * escaping.
 */
function login(name: string, password: string, inherit: "inherit" | "noinherit"): string[] {
  return [ROLE(name), `alter role ${name} login ${inherit} ${PLAIN} password '${password}'`];
}

/**
 * The default privileges of migrations/0001_roles.sql. That migration sets them for the role that runs it; these
 * statements set them for the owner login.
 */
const DEFAULT_RIGHTS = [
  ["select, insert, update, delete on tables", "berth_app"],
  ["usage on sequences", "berth_app"],
  ["execute on functions", "berth_app"],
  ["select on tables", "berth_reader"],
].map(([rights, role]) =>
  `alter default privileges for role ${OWNER_LOGIN} in schema public grant ${rights} to ${role}`
);

/**
 * Makes the owner login the owner of all tables, views, sequences, functions and types. Release 0.1.0 ran migrations as
 * the superuser, so in its databases the superuser owns them. `reassign owned` cannot be used, because initdb's
 * superuser also owns the system tables. Does nothing before the first migration: no object needs another owner, and
 * the default privileges must not apply to the migrator's table schema_migration.
 */
const TAKE_OVER = `do $$
declare each record;
begin
  if to_regclass('public.schema_migration') is null then return; end if;
  for each in
    select format('alter %s %s owner to ${OWNER_LOGIN}',
                  case relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence'
                       else 'table' end, oid::regclass) as sql
      from pg_class c
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S')
       and pg_get_userbyid(relowner) <> '${OWNER_LOGIN}'
       and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid
                        and d.refclassid = 'pg_class'::regclass and d.deptype in ('a', 'i') and c.relkind = 'S')
    union all
    select format('alter routine %s owner to ${OWNER_LOGIN}', oid::regprocedure)
      from pg_proc p where pronamespace = 'public'::regnamespace and pg_get_userbyid(proowner) <> '${OWNER_LOGIN}'
       and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid
                        and d.deptype = 'e')
    union all
    select format('alter type %s owner to ${OWNER_LOGIN}', t.oid::regtype)
      from pg_type t left join pg_class c on c.oid = t.typrelid
     where typnamespace = 'public'::regnamespace and pg_get_userbyid(typowner) <> '${OWNER_LOGIN}'
       and (typtype in ('e', 'd', 'r') or c.relkind = 'c')
       and not exists (select from pg_depend d where d.classid = 'pg_type'::regclass and d.objid = t.oid
                        and d.deptype = 'e')
  loop
    execute each.sql;
  end loop;
${DEFAULT_RIGHTS.map((each) => `execute '${each}';`).join("\n")}
end $$`;

/**
 * Creates the logins if the cluster does not have them, for example a cluster that release 0.1.0 created. Returns their
 * passwords.
 */
export async function ensureLogins(cluster: Cluster): Promise<Logins> {
  const { folder } = cluster;
  const present = await readFile(folder.logins, "utf8").catch(() => "");
  if (present !== "") return JSON.parse(present);
  const logins: Logins = { server: newPassword(), owner: newPassword() };
  await inSingleUserMode(cluster, {
    pgdata: folder.cluster,
    database: DATABASE,
    statements: [
      ...["berth_app", "berth_reader"].map(ROLE),
      ...login(OWNER_LOGIN, logins.owner, "noinherit"),
      ...login(SERVER_LOGIN, logins.server, "inherit"),
      `grant berth_app to ${OWNER_LOGIN} with inherit false, set true`,
      `grant berth_app to ${SERVER_LOGIN} with inherit true, set true`,
      `alter database ${DATABASE} owner to ${OWNER_LOGIN}`,
      TAKE_OVER,
    ],
  }).catch((cause) => {
    throw new Error(`The logins of ${folder.path} could not be created: ${(cause as Error).message}`, { cause });
  });
  await writeSecret(folder.logins, JSON.stringify(logins));
  return logins;
}

/**
 * Writes the pg_hba rules that let the two logins connect to this database with a password. If `superuser` is true,
 * also lets every user connect to every database with a password. The rules are in a separate file, so pg_hba.conf
 * stays unchanged and release 0.1.0 can still open the folder. Returns the path of the file.
 */
export async function writeHostRules({ folder, user }: Cluster, superuser: boolean): Promise<string> {
  const path = join(folder.cluster, "berth_hba.conf");
  const rules = [SERVER_LOGIN, OWNER_LOGIN].map((name) => `host ${DATABASE} ${name} 127.0.0.1/32 scram-sha-256`);
  if (superuser) rules.push("host all all 127.0.0.1/32 scram-sha-256");
  await writeFile(path, `${rules.join("\n")}\n`, { mode: 0o600 });
  await ownBy(user, path);
  return path;
}

function newPassword(): string {
  return randomBytes(PASSWORD_BYTES).toString("base64url");
}
