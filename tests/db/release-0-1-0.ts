// Creates a database with the migrations of release 0.1.0, and inserts rows into its tables.
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { migrate } from "../../src/db/migrate.ts";
import { readMigrations } from "../../src/db/migration-files.ts";
import type { Connection } from "../../src/db/pool.ts";
import { emptyDatabase, type FreshDatabase } from "../support/database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const LAST_MIGRATION = 35;

/** Creates a database with the migrations of release 0.1.0. */
export const databaseOfRelease010 = (): Promise<FreshDatabase> => databaseOfMigration(LAST_MIGRATION);

/** Creates a database with the migrations up to this number, and without the files of migrations/functions. */
export async function databaseOfMigration(last: number): Promise<FreshDatabase> {
  const database = await emptyDatabase();
  const folder = await temporaryFolder("migrations");
  try {
    const path = join(folder.path, "migrations");
    await mkdir(path);
    for (const { name, number } of await readMigrations()) {
      const from = new URL(`../../migrations/${name}`, import.meta.url);
      if (number <= last) await copyFile(from, join(path, name));
    }
    await migrate(database.url, { folder: pathToFileURL(`${path}/`) });
    return database;
  } finally {
    await folder.remove();
  }
}

/** The value of UUID columns. Each row has this id, so every reference refers to an existing row. */
const ID = "5f0d2c1e-0000-7000-8000-000000000001";
const HASH = "ab".repeat(32);

/** The value for a column, by the column's type. It is in PostgreSQL's text format. */
const BY_TYPE: Readonly<Record<string, string>> = {
  "bigint": "1",
  "boolean": "f",
  "bytea": `\\x${HASH}`,
  "cidr": "198.51.100.0/24",
  "double precision": "0.5",
  "inet": "198.51.100.9",
  "integer": "1",
  "integer[]": `{${Array(20).fill(1)}}`,
  "interval": "0",
  "jsonb": "{}",
  "macaddr": "02:00:00:00:00:01",
  "real": "0.5",
  "text": "kept",
  "text[]": "{}",
  "timestamp with time zone": "2026-01-01T00:00:00Z",
  "uuid": ID,
  "uuid[]": `{${ID}}`,
  "xid8": "1",
};

/** Values that constraints require, by table and column. Null leaves a column null. */
const BY_COLUMN: Readonly<Record<string, string | null>> = {
  "api_key.scope": "agent",
  "api_key.tenant_id": null,
  "boot_record.mac": "02:00:00:00:00:01",
  "boot_record.state": "enrolled",
  "cn.claim_code": null,
  "cn.claim_code_expires_at": null,
  "cn.registration_id": null,
  "cn.poll_token_sha256": null,
  "cn.role": "both",
  "cn.setup_epoch": null,
  "cn.state": "approved",
  "cn_load_hour.cpu_max": "0.5",
  "cn_placement.cordoned": "t",
  "cn_placement.reserved": "t",
  "disk.kind": "boot",
  "external_subnet.provision_end_ipv4": "198.51.100.9",
  "external_subnet.vlan_id": "0",
  "failure_count.failures": "1",
  "firewall_rule.action": "allow",
  "firewall_rule.direction": "inbound",
  "firewall_rule.icmp_type_code": null,
  "firewall_rule.protocol": "tcp",
  "floating_ip.operation_kind": "attach",
  "image.scope_kind": "project",
  "image.silo_id": null,
  "instance.brand": "kvm",
  "instance.operation_kind": "start",
  "instance.unwinding_as": null,
  "nic.primary_ipv6": null,
  "nic_tag.mtu": "1500",
  "public_address.nat_gateway_id": null,
  "route.target_kind": "nat_gateway",
  "route_table.is_main": "f",
  "saga.done_at": null,
  "site.state": "window_open",
  "ssh_key.fingerprint": `SHA256:${"A".repeat(43)}`,
  "ssh_key.scope_kind": "project",
  "ssh_key.silo_id": null,
  "ssh_key.user_id": null,
  "user_account.password_hash": null,
  "user_account.is_root": "f",
  "vpc.vni": "4096",
};

/** Values that columns with this name get in all tables. */
const BY_NAME: Readonly<Record<string, string | null>> = {
  "family": "v4",
  "ipv6_block": null,
  "provision_start_ipv6": null,
  "provision_end_ipv6": null,
  "vpc_ipv6_block": null,
  "stuck_reason": null,
};

type Column = { readonly table: string; readonly column: string; readonly type: string; readonly checks: string };

/**
 * Inserts a row into every table, except tables that already have their only possible row, and two tables that only
 * migrations write. Each column
 * gets a value, except columns that the database fills and columns that a constraint requires to be null.
 */
export async function fillEveryTable(client: Connection): Promise<void> {
  // Skips the checks of foreign keys, because the tables are filled in alphabetical order.
  await client.query("set session_replication_role = replica");
  const { rows } = await client.query<Column>(
    `select c.relname as table, attname as column, format_type(atttypid, atttypmod) as type,
            (select coalesce(string_agg(pg_get_constraintdef(k.oid), ' '), '') from pg_constraint k
              where k.conrelid = c.oid and contype = 'c' and attnum = any(conkey)) as checks
       from pg_attribute a join pg_class c on c.oid = attrelid
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
        and relname not in ('actor_kind', 'schema_migration') -- Only migrations write these.
        and attnum > 0 and not attisdropped and attidentity = '' and attgenerated = '' and attname <> 'xid'
      order by 1, attnum`,
  );
  for (const [table, columns] of Map.groupBy(rows, (row) => row.table)) {
    const values = columns.map(valueOf);
    await client.query(
      `insert into ${table} (${columns.map(({ column }) => column)}) values (${
        values.map((_, n) => `$${n + 1}`)
      }) on conflict do nothing`,
      values,
    ).catch((error) => {
      throw new Error(`${table}: ${error.message}`);
    });
  }
  await client.query("reset session_replication_role");
}

function valueOf({ table, column, type, checks }: Column): string | null {
  const own = BY_COLUMN[`${table}.${column}`];
  if (own !== undefined) return own;
  const named = BY_NAME[column];
  if (named !== undefined) return named;
  if (/\^\[0-9a-f\]\{64\}/.test(checks)) return HASH;
  if (checks.includes("= 'site'") && column === "id") return "site";
  if (type === "boolean" && checks === `CHECK (${column})`) return "t";
  const state = column === "state" ? /'(\w+)'::text/.exec(checks)?.[1] : undefined;
  const value = state ?? BY_TYPE[type];
  if (value === undefined) throw new Error(`no value for ${table}.${column} of type ${type}`);
  return value;
}
