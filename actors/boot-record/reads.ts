// Queries on boot records.
import { type Kysely, sql } from "kysely";
import type { BootClient } from "../../src/contract/boot.ts";
import type { BootRecordState } from "../../src/contract/enums.ts";
import type { BootRecordRow, Database } from "../../src/db/tables.ts";
import { architectureText, guidsOfUuid } from "../../src/lib/net/boot-client.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";

type Db = Kysely<Database>;
type BootClientRow = Database["boot_client"];

export type BootRecordQuery = {
  readonly state?: BootRecordState;
  /** Only the records with these MACs. */
  readonly macs?: readonly string[];
  readonly after?: string;
  readonly rows: number;
};

/** Lists boot records in the order of their MACs. */
export async function listBootRecords(db: Db, { state, macs, after, rows }: BootRecordQuery): Promise<BootRecordRow[]> {
  return await db.selectFrom("boot_record").selectAll()
    .$if(state !== undefined, (q) => q.where("state", "=", state!))
    .$if(macs !== undefined, (q) => q.where(sql<boolean>`mac = any(${macs})`))
    .$if(after !== undefined, (q) => q.where("mac", ">", after!))
    .orderBy("mac").limit(rows).execute();
}

export async function findBootRecord(db: Db, mac: string): Promise<BootRecordRow | undefined> {
  return await db.selectFrom("boot_record").selectAll().where("mac", "=", mac).executeTakeFirst();
}

export async function findBootRecords(db: Db, macs: readonly string[]): Promise<Map<string, BootRecordRow>> {
  if (macs.length === 0) return new Map();
  const rows = await db.selectFrom("boot_record").selectAll().where(sql<boolean>`mac = any(${macs})`).execute();
  return new Map(rows.map((row) => [row.mac, row]));
}

/** Returns the last netboot requests of the machines with these MACs. */
export async function findBootClients(db: Db, macs: readonly string[]): Promise<Map<string, BootClient>> {
  if (macs.length === 0) return new Map();
  const rows = await db.selectFrom("boot_client").selectAll().where("mac", "in", macs).execute();
  return new Map(rows.map((row) => [row.mac, clientView(row)]));
}

/** Returns the relay of each machine whose last netboot request came through a relay. */
export async function findRelays(db: Db, macs: readonly string[]): Promise<Map<string, string>> {
  const clients = await findBootClients(db, macs);
  return new Map([...clients].flatMap(([mac, { relay }]) => relay === null ? [] : [[mac, relay] as const]));
}

function clientView({ mac: _mac, seen_at, ...facts }: BootClientRow): BootClient {
  return { ...facts, architecture: architectureText(facts.arch), seen_at: toRfc3339(seen_at) };
}

/**
 * Lists foreign ports that sent this node's UUID in a netboot request, in the order of their MACs. A port is foreign if
 * the node does not have it and its record is not bound to the node.
 */
export async function listStrangePorts(
  db: Db,
  { server_uuid, macs, rows }: {
    readonly server_uuid: string;
    readonly macs: readonly string[];
    readonly rows: number;
  },
): Promise<string[]> {
  const found = await db.selectFrom("boot_client").innerJoin("boot_record", "boot_record.mac", "boot_client.mac")
    .select("boot_client.mac")
    .where("guid", "in", guidsOfUuid(server_uuid))
    .where((is) => is.or([is("server_uuid", "is", null), is("server_uuid", "!=", server_uuid)]))
    .$if(macs.length > 0, (q) => q.where("boot_client.mac", "not in", macs))
    .orderBy("boot_client.mac").limit(rows).execute();
  return found.map(({ mac }) => mac);
}

/** Lists the boot records that are bound to this node or have one of these MACs, in the order of their MACs. */
export async function listBootRecordsOf(
  db: Db,
  { server_uuid, macs }: { readonly server_uuid: string; readonly macs: readonly string[] },
): Promise<BootRecordRow[]> {
  return await db.selectFrom("boot_record").selectAll()
    .where((is) => is.or([is("server_uuid", "=", server_uuid), ...(macs.length === 0 ? [] : [is("mac", "in", macs)])]))
    .orderBy("mac").execute();
}
