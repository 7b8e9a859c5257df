// The logins of the embedded server. The control plane works as `berth_server`, which has the rights of `berth_app` and
// no others; `berth_owner` owns the database and migrates it. Neither is a superuser and neither may make roles. The
// superuser that initdb makes acts in single-user mode alone, before the server runs: the server accepts no login of it.
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Cluster, DATABASE, inSingleUserMode, ownBy } from "./cluster-init.ts";
import { writeSecret } from "./data-folder.ts";

export const SERVER_LOGIN = "berth_server";
export const OWNER_LOGIN = "berth_owner";

export type Logins = { readonly server: string; readonly owner: string };

const PASSWORD_BYTES = 24;
/** A role as migrations/0001_roles.sql makes it; what is there stays. */
const ROLE = (name: string) =>
  `do $$ begin if not exists (select from pg_roles where rolname = '${name}') then
     create role ${name} nologin noinherit; end if; end $$`;
const PLAIN = "nosuperuser nocreaterole nocreatedb noreplication nobypassrls";

/** What a login is, whatever it was. `password` is base64url, so it needs no quoting. */
function login(name: string, password: string, inherit: "inherit" | "noinherit"): string[] {
  return [ROLE(name), `alter role ${name} login ${inherit} ${PLAIN} password '${password}'`];
}

/** What migrations/0001_roles.sql says of tables to come; it holds for the role that said it. */
const DEFAULT_RIGHTS = [
  ["select, insert, update, delete on tables", "berth_app"],
  ["usage on sequences", "berth_app"],
  ["execute on functions", "berth_app"],
  ["select on tables", "berth_reader"],
].map(([rights, role]) =>
  `alter default privileges for role ${OWNER_LOGIN} in schema public grant ${rights} to ${role}`
);

/**
 * Release 0.1.0 migrated as the superuser, which owns what it made. PostgreSQL refuses to reassign all that the superuser
 * of initdb owns at once, since its own tables are among it. Before the first migration there is nothing to take over,
 * and the rights of tables to come must wait: the migrations' own record is made before them.
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

/** Makes the logins of a cluster that has none, also of one that release 0.1.0 made. Answers their passwords. */
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
    throw new Error(`The logins of ${folder.path} could not be made: ${(cause as Error).message}`, { cause });
  });
  await writeSecret(folder.logins, JSON.stringify(logins));
  return logins;
}

/**
 * Who may connect: the two logins, to this database, with a password. It is a file beside PostgreSQL's own, which stays
 * as it is, so that release 0.1.0 can open the folder again. Answers its path.
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
