// Queries on compute nodes.
import { type Kysely, sql } from "kysely";
import type { CnState } from "../../src/contract/enums.ts";
import type { CnLoaded, Database } from "../../src/db/tables.ts";
import type { NodeHardware } from "../../src/contract/hardware.ts";
import type { SetupScript } from "../../src/contract/setup.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import type { LabelFilter, Labels } from "../../src/contract/labels.ts";
import { finder, hasLabels } from "../record/reads.ts";

type Db = Kysely<Database>;

/** The last node of a page. Nodes are listed in the order in which they registered. */
export type CnCursor = { readonly registered_at: string; readonly server_uuid: string };

export type CnListQuery = {
  readonly state?: CnState;
  readonly labels?: LabelFilter;
  readonly after?: CnCursor;
  readonly rows: number;
};

/** The columns of a node in a list: all columns that the API shows, without the large ones. */
const LISTED = [
  "server_uuid",
  "hostname",
  "admin_ip",
  "underlay_address",
  "underlay_mtu",
  "underlay_address_set",
  "underlay_mtu_set",
  "state",
  "role",
  "registered_at",
  "approved_at",
  "last_seen",
  "agent_version",
  "macs",
  "serial",
  "bound_api_key_id",
  "last_setup_error",
  "setup_progress",
  "disk_layout",
  "conflict",
  "claims",
  "placement",
] as const;

/** A row of a list. The large columns are null unless requested. */
export type CnListed = Pick<CnLoaded, typeof LISTED[number] | "sysinfo" | "last_status">;

/** Lists nodes. `large` includes sysinfo and last_status, which nodes write and which may be 1 MiB each. */
export async function listCns(db: Db, query: CnListQuery, large: boolean): Promise<CnListed[]> {
  const found = db.selectFrom("cn_loaded").select(LISTED).where(
    sql<boolean>`server_uuid = any(array(${pageOf(query)}))`,
  )
    .orderBy("registered_at").orderBy("server_uuid");
  if (large) return await found.select(["sysinfo", "last_status"]).execute();
  return (await found.execute()).map((row) => ({ ...row, sysinfo: null, last_status: null }));
}

/** Returns the query for the ids of a page. It reads no view, so that an index finds the rows of the page. */
function pageOf({ state, labels, after, rows }: CnListQuery) {
  const conditions = [
    ...(state === undefined ? [] : [sql<boolean>`cn.state = ${state}`]),
    ...(labels === undefined ? [] : [hasLabels(sql`p.labels`, labels)]),
    ...(after === undefined ? [] : [
      sql<
        boolean
      >`(cn.registered_at, cn.server_uuid) > (${after.registered_at}::timestamptz, ${after.server_uuid}::uuid)`,
    ]),
  ];
  return sql`
    select cn.server_uuid from cn left join cn_placement p using (server_uuid)
     where ${sql.join([sql<boolean>`true`, ...conditions], sql` and `)}
     order by cn.registered_at, cn.server_uuid limit ${rows}`;
}

/** Finds the hardware of a node, as it was last read from the node's BMC. */
export async function findHardware(db: Db, server_uuid: string): Promise<NodeHardware | undefined> {
  const row = await db.selectFrom("cn_hardware").selectAll().where("server_uuid", "=", server_uuid).executeTakeFirst();
  return row && { ...row.hardware, read_at: toRfc3339(row.read_at), read_by: row.read_by };
}

/** Finds the labels of nodes. The result has no entry for a node without placement settings. */
export async function findLabels(db: Db, server_uuids: readonly string[]): Promise<Map<string, Labels>> {
  if (server_uuids.length === 0) return new Map();
  const rows = await db.selectFrom("cn_placement").select(["server_uuid", "labels"])
    .where(sql<boolean>`server_uuid = any(${server_uuids})`).execute();
  return new Map(rows.map((row) => [row.server_uuid, row.labels]));
}

/** Finds the settings of a node, without large columns. */
export async function findCnSettings(db: Db, server_uuid: string) {
  return await db.selectFrom("cn_loaded")
    .select(["server_uuid", "state", "admin_ip", "placement", "traits", "reservoir_enabled", "reservoir_percent"])
    .where("server_uuid", "=", server_uuid).executeTakeFirst();
}

/**
 * Finds the sysinfo that a booter announced. Null if no booter announced the node, undefined if the node does not
 * exist.
 */
export async function findAnnounced(db: Db, server_uuid: string): Promise<unknown> {
  const row = await db.selectFrom("cn_loaded").select("announced_sysinfo").where("server_uuid", "=", server_uuid)
    .executeTakeFirst();
  return row?.announced_sysinfo;
}

/** Finds the columns that the API shows of a node, including the large columns. */
export const findCn = finder<CnListed>(async (db, server_uuids) => {
  const rows = await db.selectFrom("cn_loaded").select([...LISTED, "sysinfo", "last_status"])
    .where(sql<boolean>`server_uuid = any(${server_uuids})`).execute();
  return new Map(rows.map((row) => [row.server_uuid, row]));
});

/**
 * Finds the root password hash for the machine of a boot record. If the record is bound to a node, this is the node's
 * hash. If not, it is the hash of a node with this port that awaits setup or is in setup. A node with a hash comes
 * first, because a foreign machine can announce this port as its own. Null if no such node has a hash.
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
    .orderBy(sql`root_password_hash is null`).orderBy("server_uuid").executeTakeFirst();
  return found?.root_password_hash ?? null;
}

/**
 * Finds the address of a node on the admin network. Reads the boot records of the node's ports, but only records in the
 * states enrolling and enrolled that are not bound to another node. The record of `mac`, the port that the node booted
 * from, comes first. The result is the first address in these records; null if they have no address.
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

/**
 * Finds the node that an approval message approved. A repeated approval needs this query, because the claim with its
 * code no longer exists.
 */
export async function findApprovedBy(db: Db, msg_id: string): Promise<string | undefined> {
  const row = await db.selectFrom("transition").select("actor_id").where("msg_id", "=", msg_id)
    .where("actor_kind", "=", "cn").where("event", "=", "approve").executeTakeFirst();
  return row?.actor_id;
}

/** The state of a registration, for the agent that polls it. */
export type Registered = Pick<
  CnLoaded,
  "server_uuid" | "state" | "poll_token_sha256" | "pending_credential" | "ticket_keys"
>;

/**
 * Finds registrations by the hashes of their poll tokens. A token belongs to a node or to a live claim. The
 * registration of a claim is always pending, whatever the state of its node.
 */
export async function findRegistered(db: Db, hashes: readonly string[]): Promise<Map<string, Registered>> {
  const { rows } = await sql<Registered & { poll_token_sha256: string }>`
    select server_uuid, state, poll_token_sha256, pending_credential, ticket_keys from cn
     where poll_token_sha256 = any(${hashes})
    union all
    select server_uuid, 'pending', poll_token_sha256, null, null from enrolment_claim
     where poll_token_sha256 = any(${hashes}) and expires_at > (select berth_now())`.execute(db);
  return new Map(rows.map((row) => [row.poll_token_sha256, row]));
}

/**
 * Finds the state of a node and the hash of its poll token, to check the proof in a registration. Null if the node does
 * not exist.
 */
export async function findProofOfNode(db: Db, server_uuid: string) {
  const row = await db.selectFrom("cn_loaded").select(["state", "poll_token_sha256"])
    .where("server_uuid", "=", server_uuid).executeTakeFirst();
  return row ?? null;
}

/**
 * Finds the announced sysinfo of the machine with this MAC. The serial number in the sysinfo is compared with the
 * service_tag entries of the allowlist.
 */
export async function findSysinfoByMac(db: Db, mac: string): Promise<unknown> {
  const row = await db.selectFrom("cn_loaded").select("announced_sysinfo")
    .where(sql<boolean>`announced_macs @> array[${mac}]`).orderBy("server_uuid").executeTakeFirst();
  return row?.announced_sysinfo ?? null;
}

/** Returns a new setup epoch, which never repeats. */
export async function nextSetupEpoch(db: Db): Promise<number> {
  const { rows } = await sql<{ epoch: number }>`select nextval('setup_epoch') as epoch`.execute(db);
  return rows[0]!.epoch;
}

/**
 * Finds the setup run of a script's token, if the run is in progress or has succeeded. At the deadline of a successful
 * run, a tick deletes the delivery of its script (handover.ts).
 */
export async function findSetupScript(db: Db, token_sha256: string): Promise<SetupScript | null> {
  const row = await db.selectFrom("cn_loaded").select(["server_uuid", "state", "setup_epoch", "setup_delivery"])
    .where(sql<boolean>`setup_delivery->>'token_sha256' = ${token_sha256}`).executeTakeFirst();
  const { server_uuid, state, setup_epoch, setup_delivery: delivery } = row ?? {};
  if (server_uuid === undefined || !delivery) return null;
  const { epoch, mac, address, completed } = delivery;
  // A process of the previous release leaves the delivery in the record when it ends a run.
  const is_current = completed ? state === "approved" : setup_epoch === epoch;
  return is_current ? { server_uuid, epoch, mac, address, completed } : null;
}

/**
 * Finds the secrets of the bundle of the setup run with this epoch. They are available until the first report of the
 * run.
 */
export async function findBundle(db: Db, server_uuid: string, epoch: number) {
  const row = await db.selectFrom("cn_loaded")
    .select(["hostname", "disk_layout", "root_password_hash", "pending_credential", "ticket_keys", "macs"])
    .where("server_uuid", "=", server_uuid).where("setup_epoch", "=", epoch).executeTakeFirst();
  const { disk_layout, pending_credential, ticket_keys } = row ?? {};
  if (row === undefined || !disk_layout || !pending_credential || !ticket_keys) return null;
  return { ...row, disk_layout, pending_credential, ticket_keys };
}
