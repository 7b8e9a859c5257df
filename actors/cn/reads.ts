// What is read of compute nodes without going through their mailbox.
import { type Kysely, sql } from "kysely";
import type { CnState } from "../../src/contract/enums.ts";
import type { CnLoaded, Database } from "../../src/db/tables.ts";

type Db = Kysely<Database>;

/** Where a page of the node list goes on: nodes are listed in the order in which they registered. */
export type CnCursor = { readonly registered_at: string; readonly server_uuid: string };

export type CnListQuery = {
  readonly state?: CnState;
  readonly after?: CnCursor;
  readonly rows: number;
};

/** What lists read: every column of the view but those that may be large. */
const LISTED = [
  "server_uuid",
  "hostname",
  "admin_ip",
  "state",
  "role",
  "registered_at",
  "approved_at",
  "last_seen",
  "macs",
  "serial",
  "bound_api_key_id",
  "last_setup_error",
  "setup_progress",
  "disk_layout",
  "conflict",
  "claims",
] as const;

/** The columns of a list, with the large ones null where they were not asked for. */
export type CnListed = Pick<CnLoaded, typeof LISTED[number] | "sysinfo" | "last_status">;

/** `large`: with sysinfo and last_status, which nodes write and which may be 1 MiB each. */
export async function listCns(db: Db, query: CnListQuery, large: boolean): Promise<CnListed[]> {
  const { state, after, rows } = query;
  const found = db.selectFrom("cn_loaded").select(LISTED)
    .$if(state !== undefined, (q) => q.where("state", "=", state!))
    .$if(
      after !== undefined,
      (q) =>
        q.where(
          sql<boolean>`(registered_at, server_uuid) > (${after!.registered_at}::timestamptz, ${
            after!.server_uuid
          }::uuid)`,
        ),
    )
    .orderBy("registered_at").orderBy("server_uuid").limit(rows);
  if (large) return await found.select(["sysinfo", "last_status"]).execute();
  return (await found.execute()).map((row) => ({ ...row, sysinfo: null, last_status: null }));
}

/** Whether there is such a node, and what operators decided about it: nothing that may be large. */
export async function findCnSettings(db: Db, server_uuid: string) {
  return await db.selectFrom("cn_loaded")
    .select(["server_uuid", "state", "admin_ip", "placement", "traits", "reservoir_enabled", "reservoir_percent"])
    .where("server_uuid", "=", server_uuid).executeTakeFirst();
}

/** What a booter announced of the machine: null when none did, undefined when there is no such node. */
export async function findAnnounced(db: Db, server_uuid: string): Promise<unknown> {
  const row = await db.selectFrom("cn_loaded").select("announced_sysinfo").where("server_uuid", "=", server_uuid)
    .executeTakeFirst();
  return row?.announced_sysinfo;
}

/** The record whole, sysinfo included. */
export async function findCn(db: Db, server_uuid: string): Promise<CnLoaded | undefined> {
  return await db.selectFrom("cn_loaded").selectAll().where("server_uuid", "=", server_uuid).executeTakeFirst();
}

/**
 * The hash for the machine of a boot record: of the node that the record is bound to, or else of the bare node that
 * announced this port. Null when none is set, or there is no such node.
 */
export async function findRootPasswordHash(
  db: Db,
  { server_uuid, mac }: { readonly server_uuid: string | null; readonly mac: string },
): Promise<string | null> {
  const found = await db.selectFrom("cn_loaded").select("root_password_hash")
    .$if(server_uuid !== null, (q) => q.where("server_uuid", "=", server_uuid!))
    .$if(
      server_uuid === null,
      (q) => q.where(sql<boolean>`macs @> array[${mac}]`).where("state", "in", ["awaiting_setup", "setting_up"]),
    )
    .orderBy("server_uuid").executeTakeFirst();
  return found?.root_password_hash ?? null;
}

/**
 * The address of a node on the admin network: of the boot record of `mac`, the port it booted from, or else of the first
 * of its ports that has one. Records of other nodes do not count.
 */
export async function findAdminAddress(db: Db, server_uuid: string, mac: string | null): Promise<string | null> {
  const row = await db.selectFrom("boot_record").innerJoin(
    "cn_loaded as cn",
    (join) => join.on(sql<boolean>`boot_record.mac = any(cn.macs)`),
  )
    .select("boot_record.address")
    .where("cn.server_uuid", "=", server_uuid)
    .where("boot_record.address", "is not", null)
    .where("boot_record.state", "in", ["enrolling", "enrolled"])
    .where((e) => e.or([e("boot_record.server_uuid", "is", null), e("boot_record.server_uuid", "=", server_uuid)]))
    .orderBy(sql`boot_record.mac is not distinct from ${mac}`, "desc")
    .orderBy(sql`array_position(cn.macs, boot_record.mac)`)
    .limit(1).executeTakeFirst();
  return row?.address ?? null;
}

/** The node that an approval message approved: for a repeated request, whose code is used up. */
export async function findApprovedBy(db: Db, msg_id: string): Promise<string | undefined> {
  const row = await db.selectFrom("transition").select("actor_id").where("msg_id", "=", msg_id)
    .where("actor_kind", "=", "cn").where("event", "=", "approve").executeTakeFirst();
  return row?.actor_id;
}

/** What a waiting agent asks for, by the hash of its poll token. */
export type Registered = Pick<
  CnLoaded,
  "server_uuid" | "state" | "poll_token_sha256" | "pending_credential" | "ticket_keys"
>;

/** By the token of a node or of a live claim. A claim waits, whatever the state of its node. */
export async function findRegistered(db: Db, hashes: readonly string[]): Promise<Map<string, Registered>> {
  const { rows } = await sql<Registered & { poll_token_sha256: string }>`
    select server_uuid, state, poll_token_sha256, pending_credential, ticket_keys from cn
     where poll_token_sha256 = any(${hashes})
    union all
    select server_uuid, 'pending', poll_token_sha256, null, null from enrolment_claim
     where poll_token_sha256 = any(${hashes}) and expires_at > (select berth_now())`.execute(db);
  return new Map(rows.map((row) => [row.poll_token_sha256, row]));
}

/** What a registration meets: the node's state and token, null where there is none. */
export async function findGround(db: Db, server_uuid: string) {
  const row = await db.selectFrom("cn_loaded").select(["state", "poll_token_sha256"])
    .where("server_uuid", "=", server_uuid).executeTakeFirst();
  return row ?? null;
}

/** The announced inventory of the machine that announced this MAC, for service_tag entries. */
export async function findSysinfoByMac(db: Db, mac: string): Promise<unknown> {
  const row = await db.selectFrom("cn_loaded").select("announced_sysinfo")
    .where(sql<boolean>`announced_macs @> array[${mac}]`).orderBy("server_uuid").executeTakeFirst();
  return row?.announced_sysinfo ?? null;
}

/** A new setup epoch; it never repeats. */
export async function nextSetupEpoch(db: Db): Promise<number> {
  const { rows } = await sql<{ epoch: number }>`select nextval('setup_epoch') as epoch`.execute(db);
  return rows[0]!.epoch;
}

/** What the bundle of this run holds, while the run has not reported; afterwards nobody gets it again. */
export async function findBundle(db: Db, server_uuid: string, epoch: number) {
  const row = await db.selectFrom("cn_loaded")
    .select(["hostname", "disk_layout", "root_password_hash", "pending_credential", "ticket_keys", "macs"])
    .where("server_uuid", "=", server_uuid).where("setup_epoch", "=", epoch).executeTakeFirst();
  const { disk_layout, pending_credential, ticket_keys } = row ?? {};
  if (row === undefined || !disk_layout || !pending_credential || !ticket_keys) return null;
  return { ...row, disk_layout, pending_credential, ticket_keys };
}
