// Queries on instances, their disks and their NICs.
import { type Kysely, sql } from "kysely";
import type { InstanceState, LoadStep } from "../../src/contract/enums.ts";
import {
  type Disk,
  GuestInterfaces,
  type Instance,
  type InstanceShown,
  type Nic,
  type PlacedInstance,
  type SystemInstance,
} from "../../src/contract/instance.ts";
import type { InstanceLoad, MetricsSample } from "../../src/contract/instance-metrics.ts";
import type { LabelFilter } from "../../src/contract/labels.ts";
import { CN_LIVE_S } from "../../src/contract/limits.ts";
import type { Snapshot } from "../../src/contract/snapshot.ts";
import type { Database } from "../../src/db/tables.ts";
import { isAddressPart } from "../../src/lib/net/address-part.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { finder, hasLabels } from "../record/reads.ts";
import { diskView, instanceView, lifecycleOf, nicView, snapshotView } from "./view.ts";

type Db = Kysely<Database>;

/** A page. Lists are in the order of ids. The ids of instances are in the order of their creation. */
type Page = { readonly after?: string | undefined; readonly rows: number };

export type OnNodeQuery = { readonly server_uuid: string } & Page;

/** Lists the instances on this node, in every state. */
export async function listInstancesOn(db: Db, query: OnNodeQuery): Promise<PlacedInstance[]> {
  const rows = await db.selectFrom("instance as i").innerJoin("project as p", "p.id", "i.project_id")
    .innerJoin("tenant as t", "t.id", "i.tenant_id").innerJoin("silo as s", "s.id", "t.silo_id")
    .select(["i.id", "i.name", "i.host_cn_uuid", "i.state", "i.reason", "i.tenant_id", "i.project_id", "i.cpu"])
    .select(["i.memory_bytes", "s.name as silo_name", "t.name as tenant_name", "p.name as project_name"])
    .select(
      sql<number>`(select coalesce(sum(d.size_bytes), 0)::bigint from disk d where d.instance_id = i.id)`.as(
        "disk_bytes",
      ),
    )
    .where("i.host_cn_uuid", "=", query.server_uuid)
    .$if(query.after !== undefined, (q) => q.where("i.id", ">", query.after!))
    .orderBy("i.id").limit(query.rows).execute();
  return rows.map(({ state, reason, ...row }) => ({ ...row, lifecycle: lifecycleOf({ state, reason }) }));
}

export async function listInstanceIdsOn(db: Db, server_uuid: string): Promise<string[]> {
  const onNode = db.selectFrom("instance").select("id").where("host_cn_uuid", "=", server_uuid);
  return (await onNode.orderBy("id").execute()).map(({ id }) => id);
}

/** Selects the instances that match all given fields. */
export type InstanceFilter = {
  readonly image_id?: string;
  readonly cn?: string;
  readonly tenant_id?: string;
  readonly project_id?: string;
  readonly state?: InstanceState;
  readonly labels?: LabelFilter;
  /** Text that must be in the name, the UUID or an address. */
  readonly q?: string;
};

export async function listInstances(db: Db, filter: InstanceFilter & Page): Promise<Instance[]> {
  const found = await narrowed(withHost(db), filter).execute();
  return found.map(({ host_live, ...row }) => instanceView(row, host_live));
}

/** Lists instances with their addresses and with the names of their project, tenant, silo and node. */
export async function listSystemInstances(db: Db, filter: InstanceFilter & Page): Promise<SystemInstance[]> {
  const addresses = sql<string[]>`array(
    select host(a.address)
      from nic n cross join lateral (values (n.primary_ipv4, 0), (n.primary_ipv6, 1)) as a (address, family)
     where n.instance_id = i.id and a.address is not null order by n.ordinal, a.family)
    || array(select host(f.address) from floating_ip f where f.attached_instance_id = i.id order by f.address)`;
  const found = await narrowed(withHost(db), filter)
    .innerJoin("project as p", "p.id", "i.project_id").innerJoin("tenant as t", "t.id", "i.tenant_id")
    .innerJoin("silo as o", "o.id", "t.silo_id").leftJoin("cn as h", "h.server_uuid", "i.host_cn_uuid")
    .select(["p.name as project_name", "t.name as tenant_name", "o.name as silo_name", "h.hostname as host_name"])
    .select(addresses.as("addresses")).execute();
  return found.map(({ host_live, project_name, tenant_name, silo_name, host_name, addresses, ...row }) => ({
    ...instanceView(row, host_live),
    silo_name,
    tenant_name,
    project_name,
    host_name,
    addresses,
  }));
}

/** Limits a query on instances to one page of the instances that match the filter. */
function narrowed(query: ReturnType<typeof withHost>, filter: InstanceFilter & Page) {
  const { image_id, cn, tenant_id, project_id, state, labels, q: text, after, rows } = filter;
  return query
    .$if(image_id !== undefined, (q) => q.where("i.image_id", "=", image_id!))
    .$if(cn !== undefined, (q) => q.where("i.host_cn_uuid", "=", cn!))
    .$if(tenant_id !== undefined, (q) => q.where("i.tenant_id", "=", tenant_id!))
    .$if(project_id !== undefined, (q) => q.where("i.project_id", "=", project_id!))
    .$if(state !== undefined, (q) => q.where("i.state", "=", state!))
    .$if(labels !== undefined, (q) => q.where(hasLabels("i.labels", labels!)))
    .$if(text !== undefined, (q) => q.where(contains(text!)))
    .$if(after !== undefined, (q) => q.where("i.id", ">", after!))
    .orderBy("i.id").limit(rows);
}

/** Matches a name, id or address that contains the text. Reads no addresses if no address can contain the text. */
function contains(text: string) {
  const like = `%${text.toLowerCase().replace(/[\\%_]/g, "\\$&")}%`;
  return sql<boolean>`(lower(i.name) like ${like} or i.id::text like ${like}
    or ${isAddressPart(text.toLowerCase())} and i.id in (
      select n.instance_id from nic n where host(n.primary_ipv4) like ${like} or host(n.primary_ipv6) like ${like}
          or exists (select from unnest(n.additional_ips) a where host(a) like ${like})
      union all select attached_instance_id from floating_ip where attached_to is not null and host(address) like ${like}))`;
}

export const findInstance = finder<Instance>(async (db, ids) => {
  const rows = await withHost(db).where(sql<boolean>`i.id = any(${ids})`).execute();
  return new Map(rows.map(({ host_live, ...columns }) => [columns.id, instanceView(columns, host_live)]));
});

/** Finds an instance with the addresses that its guest reports. */
export async function findInstanceShown(db: Db, id: string): Promise<InstanceShown | undefined> {
  const reported = sql<unknown>`case when i.state = 'running'
    then s.last_status #> array['vms', i.id::text, 'guest_interfaces'] end`;
  const row = await withHost(db).select(reported.as("guest_interfaces")).where("i.id", "=", id).executeTakeFirst();
  if (row === undefined) return undefined;
  const { host_live, guest_interfaces, ...columns } = row;
  // A guest chooses these values, so they are checked again here.
  const { data = null } = GuestInterfaces.safeParse(guest_interfaces);
  return { ...instanceView(columns, host_live), guest_interfaces: data };
}

/** Selects instances. `host_live` is true if the last heartbeat of the node is recent, and null without a node. */
function withHost(db: Db) {
  const live = sql<boolean | null>`case when i.host_cn_uuid is not null
    then coalesce(s.last_seen >= (select berth_now()) - make_interval(secs => ${CN_LIVE_S}), false) end`;
  return db.selectFrom("instance as i").leftJoin("cn_signal as s", "s.server_uuid", "i.host_cn_uuid")
    .selectAll("i").select(live.as("host_live"));
}

/** Finds the sealed user data for cloud-init, by the id of the instance. */
export const findSealedUserData = finder<string>(async (db, ids) => {
  const rows = await db.selectFrom("sealed_user_data").select(["instance_id", "sealed"])
    .where(sql<boolean>`instance_id = any(${ids})`).where("sealed", "is not", null).execute();
  return new Map(rows.map(({ instance_id, sealed }) => [instance_id, sealed!]));
});

/** Lists the disks of an instance, the boot disk first. */
export async function listDisks(db: Db, instance_id: string, labels?: LabelFilter): Promise<Disk[]> {
  const rows = await disksInOrder(db).where("instance_id", "=", instance_id)
    .$if(labels !== undefined, (q) => q.where(hasLabels("labels", labels!))).execute();
  return rows.map(diskView);
}

/** Lists all disks of an instance, the boot disk first. Undefined for an instance without disks. */
export const findDisksOf = finder<Disk[]>(async (db, ids) => {
  const rows = await disksInOrder(db).where(sql<boolean>`instance_id = any(${ids})`).execute();
  return Map.groupBy(rows.map(diskView), ({ instance_id }) => instance_id);
});

function disksInOrder(db: Db) {
  return db.selectFrom("disk").selectAll().where("kind", "<>", "snapshot").orderBy("kind").orderBy("id");
}

/** Lists the disks of a project, in the order of their ids. */
export async function listProjectDisks(
  db: Db,
  { tenant_id, project_id, labels, after, rows }: Pick<NicFilter, "tenant_id" | "project_id" | "labels"> & Page,
): Promise<Disk[]> {
  // Disks have no index by project, so this finds the instances of the project first.
  const found = await db.selectFrom("instance as of").innerJoin("disk", "disk.instance_id", "of.id").selectAll("disk")
    .where("disk.kind", "<>", "snapshot").where("of.tenant_id", "=", tenant_id!).where(
      "of.project_id",
      "=",
      project_id!,
    )
    .$if(labels !== undefined, (q) => q.where(hasLabels("disk.labels", labels!)))
    .$if(after !== undefined, (q) => q.where("disk.id", ">", after!))
    .orderBy("disk.id").limit(rows).execute();
  return found.map(diskView);
}

export async function findDisk(db: Db, id: string): Promise<Disk | undefined> {
  const row = await disksInOrder(db).where("id", "=", id).executeTakeFirst();
  return row && diskView(row);
}

export async function findSnapshot(db: Db, id: string): Promise<Snapshot | undefined> {
  const row = await db.selectFrom("disk").selectAll().where("id", "=", id).where("kind", "=", "snapshot")
    .executeTakeFirst();
  return row && snapshotView(row);
}

/** Lists the snapshots of an instance or a project, in the order of their ids. */
export async function listSnapshots(
  db: Db,
  { instance_id, tenant_id, project_id, labels, after, rows }: Omit<NicFilter, "subnet_id" | "ip"> & Page,
): Promise<Snapshot[]> {
  const found = await db.selectFrom("instance as of").innerJoin("disk", "disk.instance_id", "of.id").selectAll("disk")
    .where("disk.kind", "=", "snapshot")
    .$if(instance_id !== undefined, (q) => q.where("of.id", "=", instance_id!))
    .$if(tenant_id !== undefined, (q) => q.where("of.tenant_id", "=", tenant_id!))
    .$if(project_id !== undefined, (q) => q.where("of.project_id", "=", project_id!))
    .$if(labels !== undefined, (q) => q.where(hasLabels("disk.labels", labels!)))
    .$if(after !== undefined, (q) => q.where("disk.id", ">", after!))
    .orderBy("disk.id").limit(rows).execute();
  return found.map(snapshotView);
}

function nics(db: Db) {
  const bound = sql<string[]>`array(select host(address) from floating_ip where attached_to = nic.id order by address)`;
  return db.selectFrom("nic").selectAll().select(bound.as("floating_ips"));
}

/** Lists the NICs of an instance, the primary one first. Undefined for an instance without NICs. */
export const findNicsOf = finder<Nic[]>(async (db, ids) => {
  const rows = await nics(db).where(sql<boolean>`instance_id = any(${ids})`).orderBy("ordinal").execute();
  return Map.groupBy(rows.map(nicView), ({ instance_id }) => instance_id);
});

export type NicFilter = {
  readonly instance_id?: string;
  readonly subnet_id?: string;
  /** An address as canonical text. The blocks of VPCs may overlap, so several NICs may have this address. */
  readonly ip?: string;
  readonly tenant_id?: string;
  readonly project_id?: string;
  readonly labels?: LabelFilter;
};

export async function listNics(db: Db, filter: NicFilter & Page): Promise<Nic[]> {
  const { instance_id, subnet_id, ip, tenant_id, project_id, labels, after, rows } = filter;
  const hasIp = sql<boolean>`(primary_ipv4 = ${ip} or primary_ipv6 = ${ip} or additional_ips @> array[${ip}]::inet[])`;
  const found = await nics(db)
    .$if(ip !== undefined, (q) => q.where(hasIp))
    .$if(subnet_id !== undefined, (q) => q.where("subnet_id", "=", subnet_id!))
    .$if(instance_id !== undefined, (q) => q.where("instance_id", "=", instance_id!))
    .$if(tenant_id !== undefined, (q) => q.where("tenant_id", "=", tenant_id!))
    .$if(project_id !== undefined, (q) => q.where("project_id", "=", project_id!))
    .$if(labels !== undefined, (q) => q.where(hasLabels("labels", labels!)))
    .$if(after !== undefined, (q) => q.where("id", ">", after!))
    .orderBy("id").limit(rows).execute();
  return found.map(nicView);
}

export async function findNic(db: Db, id: string): Promise<Nic | undefined> {
  const row = await nics(db).where("id", "=", id).executeTakeFirst();
  return row && nicView(row);
}

/** The columns that are compared with a node's report. */
export type Reportable = {
  readonly id: string;
  readonly tenant_id: string;
  readonly project_id: string;
  readonly state: InstanceState;
  readonly missed_reports: number;
};

/**
 * Lists the instances on a node that have no operation in flight. The list is empty if the status report `status_id` is
 * not the node's newest.
 */
export async function listReportable(db: Db, server_uuid: string, status_id: string): Promise<Reportable[]> {
  return await db.selectFrom("instance").select(["id", "tenant_id", "project_id", "state", "missed_reports"])
    .where("host_cn_uuid", "=", server_uuid).where("operation_id", "is", null)
    .where(sql<boolean>`exists (
      select from cn_signal s where s.server_uuid = ${server_uuid}::uuid and s.status_id = ${status_id}::uuid)`)
    .execute();
}

/** Lists an instance's samples from the last `minutes` minutes, oldest first. */
export async function listMetrics(
  db: Db,
  { instance_id, minutes }: { readonly instance_id: string; readonly minutes: number },
): Promise<MetricsSample[]> {
  const rows = await db.selectFrom("instance_metrics").selectAll().where("instance_id", "=", instance_id)
    .where("at", ">", sql<Date>`(select berth_now()) - make_interval(mins => ${minutes})`).orderBy("at").execute();
  return rows.map(({ instance_id: _instance_id, simulated: _simulated, at, ...metrics }) => ({
    at: toRfc3339(at),
    ...metrics,
  }));
}

/** Lists an instance's load by the minute or by the hour, oldest first. */
export async function listLoad(
  db: Db,
  { instance_id, by }: { readonly instance_id: string; readonly by: LoadStep },
): Promise<Pick<InstanceLoad, "samples" | "simulated">> {
  const rows = await db.selectFrom("instance_load").selectAll().where("instance_id", "=", instance_id)
    .where("step", "=", by).orderBy("at").execute();
  return {
    simulated: rows.some(({ simulated }) => simulated),
    samples: rows.map(({ instance_id: _instance_id, step: _step, simulated: _simulated, at, ...load }) => ({
      at: toRfc3339(at),
      ...load,
    })),
  };
}
