// Reads the input of placement in one query (nodes_to_place_2). The input is every approved node with its capacity
// report, its load, the resources in use and the number of its instances per tenant.
import { type Kysely, sql } from "kysely";
import type { CapacityReport } from "../contract/agent.ts";
import { type CnPlacementRules, UNRESTRICTED } from "../contract/cn-placement.ts";
import type { CnRole, CnState } from "../contract/enums.ts";
import type { Group } from "../lib/placement/group.ts";
import type { HostedInstance } from "../lib/placement/drain.ts";
import type { Load, Neighbours, Snapshot } from "../lib/placement/snapshot.ts";
import type { Database } from "../db/tables.ts";

type Db = Kysely<Database>;

export type SnapshotOptions = {
  /** Default: the database's clock. */
  readonly now?: Date;
  /** Seconds after which a summary of a node's load is stale. Default: 0, which makes every summary stale. */
  readonly load_stale_s?: number;
};

/** Reads the last committed state of all approved nodes. */
export async function placementSnapshot(db: Db, options: SnapshotOptions = {}): Promise<Snapshot> {
  const { now, load_stale_s = 0 } = options;
  return snapshotOf(await nodesToPlace(db, now), load_stale_s);
}

/** The rows of a snapshot. snapshotOf() determines which load summaries are stale. */
export type NodesToPlace = readonly NodeRow[];

/** @param now - Default: the time by the database's clock. */
export async function nodesToPlace(db: Db, now?: Date): Promise<NodesToPlace> {
  const at = sql<Date | null>`${now?.toISOString() ?? null}::timestamptz`;
  return (await sql<NodeRow>`select * from nodes_to_place_2(${at})`.execute(db)).rows;
}

/** @param load_stale_s seconds after which a summary of a node's load is stale */
export function snapshotOf(rows: NodesToPlace, load_stale_s: number): Snapshot {
  const { now, silos } = rows[0]!;
  const stale_before_ms = now.getTime() - load_stale_s * 1_000;
  const nodes = rows.filter((row): row is NodeRow & { server_uuid: string } => row.server_uuid !== null).map((row) => {
    const { now: _now, silos: _silos, cpu_units, ram_mb, disk_bytes, instances, summary, refreshed_at, ...node } = row;
    const isStale = refreshed_at === null || refreshed_at.getTime() < stale_before_ms;
    const load = summary === null ? null : loadOf(summary, isStale);
    return {
      ...node,
      placement: node.placement === null ? UNRESTRICTED : rulesOf(node.placement),
      neighbours: neighboursOf(node.neighbours, silos ?? {}),
      used: { cpu_units, ram_mb, disk_bytes, instances },
      load,
    };
  });
  return { now, nodes };
}

/** Returns a node's placement rules, without other fields of the row. */
function rulesOf(row: CnPlacementRules): CnPlacementRules {
  return {
    reserved: row.reserved,
    reserved_reason: row.reserved_reason,
    cordoned: row.cordoned,
    cordoned_reason: row.cordoned_reason,
    overprovision_cpu: row.overprovision_cpu,
    overprovision_ram: row.overprovision_ram,
    overprovision_disk: row.overprovision_disk,
    fault_domain: row.fault_domain,
    pinned_silo_uuid: row.pinned_silo_uuid,
    pinned_tenant_uuid: row.pinned_tenant_uuid,
    note: row.note,
    labels: row.labels,
  };
}

function neighboursOf(counts: Counts, silos: Silos): Neighbours[] {
  return Object.entries(counts).flatMap(([tenant_id, count]) => {
    const silo_id = silos[tenant_id];
    return silo_id === undefined ? [] : [{ tenant_id, silo_id, count }];
  });
}

/** The number of a node's instances by tenant. */
type Counts = Readonly<Record<string, number>>;
/** The silos by tenant. */
type Silos = Readonly<Record<string, string>>;

/** A row of nodes_to_place_2. If no node is approved, there is one row, and its node columns are null. */
type NodeRow = {
  now: Date;
  server_uuid: string | null;
  hostname: string;
  state: CnState;
  role: CnRole;
  last_seen: Date | null;
  placement: CnPlacementRules | null;
  traits: Record<string, string>;
  capacity: CapacityReport | null;
  cpu_units: number;
  ram_mb: number;
  disk_bytes: number;
  instances: number;
  unmade_bytes: number;
  neighbours: Counts;
  silos: Silos | null;
  summary: Readonly<Record<string, unknown>> | null;
  refreshed_at: Date | null;
};

function loadOf(summary: Readonly<Record<string, unknown>>, stale: boolean): Load {
  const fraction = (key: string) => typeof summary[key] === "number" ? summary[key] : null;
  return {
    stale,
    cpu_p95_5m: fraction("cpu_p95_5m"),
    ram_used_p95_5m: fraction("ram_used_p95_5m"),
    cpu_p50_1d: fraction("cpu_p50_1d"),
  };
}

/**
 * Lists the nodes with a bridge for a NIC tag. The function reads the nodes of each tag once, so create a function for
 * each plan.
 */
export type BridgesOf = (nic_tag: string) => Promise<readonly string[]>;

export function bridgesIn(db: Db): BridgesOf {
  const read = new Map<string, Promise<readonly string[]>>();
  return (nic_tag) => {
    const present = read.get(nic_tag);
    if (present !== undefined) return present;
    const nodes = sql<{ server_uuid: string }>`
      select server_uuid from cn_nic_tag where name = ${nic_tag} and bridge is not null`.execute(db)
      .then(({ rows }) => rows.map(({ server_uuid }) => server_uuid));
    read.set(nic_tag, nodes);
    return nodes;
  };
}

/** Lists all instances on a node, whatever their state, with their resources. */
export async function hostedInstances(
  db: Db,
  server_uuid: string,
  bridgesOf: BridgesOf = bridgesIn(db),
): Promise<HostedInstance[]> {
  const { rows } = await sql<HostedRow>`${HOSTED} where i.host_cn_uuid = ${server_uuid}::uuid order by i.id`
    .execute(db);
  return await Promise.all(rows.map((row) => withBridges(row, bridgesOf)));
}

/** Finds an instance, with its resources. */
export async function findInstanceToPlace(db: Db, id: string): Promise<HostedInstance | undefined> {
  const { rows: [row] } = await sql<HostedRow>`${HOSTED} where i.id = ${id}::uuid`.execute(db);
  return row && await withBridges(row, bridgesIn(db));
}

/** `bridged_tags`: the NIC tags of the instance's floating IPs, if the instance's node has a bridge for the tag. */
type HostedRow = Omit<HostedInstance, "bridged_nodes"> & { readonly bridged_tags: readonly string[] };

async function withBridges({ bridged_tags, ...instance }: HostedRow, bridgesOf: BridgesOf): Promise<HostedInstance> {
  const nodes = await Promise.all(bridged_tags.map(async (tag) => [tag, await bridgesOf(tag)] as const));
  return { ...instance, bridged_nodes: Object.fromEntries(nodes) };
}

const HOSTED = sql`
  select i.id, i.name, i.tenant_id, t.silo_id, i.project_id, i.state, i.host_cn_uuid, i.brand, i.cpu, i.memory_bytes,
         (select coalesce(sum(size_bytes), 0)::bigint from disk where instance_id = i.id) as disk_bytes,
         m.compatibility->>'min_platform' as min_platform, ${groupOf("i.placement_group_id")} as "group",
         array(select distinct e.nic_tag
                 from floating_ip f join external_subnet e on e.ipv4_block >>= f.address or e.ipv6_block >>= f.address
                where f.attached_instance_id = i.id and exists (
                        select from cn_nic_tag h where h.server_uuid = i.host_cn_uuid and h.name = e.nic_tag
                                                   and h.bridge is not null)) as bridged_tags
    from instance i join tenant t on t.id = i.tenant_id join image m on m.id = i.image_id`;

/** The placement group with its instances and their nodes, as JSON. Null without a group. */
function groupOf(id: string) {
  return sql`(
    select jsonb_build_object('id', g.id, 'name', g.name, 'policy', g.policy, 'level', g.level,
                              'strictness', g.strictness, 'members', (
             select coalesce(jsonb_agg(to_jsonb(h)), '[]') from placement_group_hosts(g.id) h))
      from placement_group g where g.id = ${sql.raw(id)})`;
}

/** Finds a placement group with its instances. With `project_id`, a group of another project counts as missing. */
export async function findGroup(
  db: Db,
  { id, project_id }: { readonly id: string; readonly project_id?: string },
): Promise<Group | undefined> {
  const { rows: [row] } = await sql<{ group: Group | null }>`
    select ${groupOf("w.id")} as "group" from placement_group w
     where w.id = ${id}::uuid and w.project_id = coalesce(${project_id ?? null}::uuid, w.project_id)`.execute(db);
  return row?.group ?? undefined;
}

/** Reads the last capacity report of a node; undefined for an unknown node. */
export async function findCapacity(
  db: Db,
  server_uuid: string,
): Promise<{ capacity: CapacityReport | null } | undefined> {
  const { rows } = await sql<{ capacity: CapacityReport | null }>`
    select k.report as capacity from cn c left join cn_capacity k using (server_uuid)
     where c.server_uuid = ${server_uuid}::uuid`.execute(db);
  return rows[0];
}

/** Finds the silo of a tenant. */
export async function findSiloOf(db: Db, tenant_id: string): Promise<string | undefined> {
  const row = await db.selectFrom("tenant").select("silo_id").where("id", "=", tenant_id).executeTakeFirst();
  return row?.silo_id;
}
