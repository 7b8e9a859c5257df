// Finds which generation of a VPC the VPC's nodes have applied (docs/networking.md, "Realizations"). The nodes of a VPC
// are the hosts of its NICs. A VPC can have 100,000 NICs, so the process does not read them for each answer. It
// remembers the number of the VPC's nodes, and the pending nodes: the nodes that had not applied the generation. The
// nodes of a VPC change only with its generation (src/db/network-content.ts).
//
// The nodes' reports are read for each answer, so every answer is current. The applied nodes are counted from the
// reports, because only a node of the VPC can report `applied` at the newest generation. The NICs are read again in
// these cases:
// - The generation has changed, or KNOWN_S has passed.
// - The numbers of applied and pending nodes do not add up to the remembered number of nodes.
// - A node that was not pending has become pending.
import { type Kysely, sql } from "kysely";
import type { RealizationStatus } from "../../src/contract/enums.ts";
import { REALIZATIONS_IN_LIST_MAX, REALIZATIONS_MAX } from "../../src/contract/limits.ts";
import type { Realized } from "../../src/contract/network.ts";
import type { Database } from "../../src/db/tables.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import type { Find } from "../record/reads.ts";

type Db = Kysely<Database>;

/**
 * A node of a VPC. `generation` is null until the node gets the VPC's document. The other values are null until the
 * node reports them.
 */
type NodeRow = {
  readonly server_uuid: string;
  readonly generation: number | null;
  readonly status: RealizationStatus | null;
  readonly message: string | null;
  readonly reported_at: string | null;
};

/** A VPC and the generation that its nodes have applied. `shown` has some of the nodes, the pending ones first. */
type VpcRow = {
  readonly id: string;
  readonly generation: number;
  readonly applied_generation: number | null;
  readonly nodes: number;
  readonly nodes_pending: number;
  readonly shown: readonly NodeRow[];
};

/** The nodes of a VPC at one generation. `pending` has the nodes that had not applied the generation. */
type Known = {
  readonly generation: number;
  readonly nodes: number;
  readonly pending: readonly string[];
  /** When the nodes were read, by the database's clock: seconds since 1970. */
  readonly read_s: number;
};

/** The most pending nodes that are remembered for a VPC. With more, each answer reads the NICs. */
const PENDING_KNOWN_MAX = 200;
/** The most VPCs that a process remembers. The oldest is forgotten first. */
const VPCS_KNOWN_MAX = 1_000;
/**
 * After this time in seconds, the process reads the NICs again, even at the same generation. After a failover, the new
 * primary may lack the last changes, and may give the number of a remembered generation to other changes.
 */
const KNOWN_S = 30;

const knownByDb = new WeakMap<Db, Map<string, Known>>();

/**
 * Finds which generation the nodes of each VPC have applied, by VPC id. Each result names at most `nodes_max` nodes. A
 * VPC without nodes counts as applied.
 */
export async function findRealized(
  db: Db,
  vpc_ids: readonly string[],
  nodes_max: number = REALIZATIONS_MAX,
): Promise<Map<string, Realized>> {
  const known = knownByDb.get(db) ?? new Map<string, Known>();
  knownByDb.set(db, known);
  const asked = vpc_ids.flatMap((id) => {
    const nodes = known.get(id);
    return nodes === undefined ? [] : [{ id, ...nodes }];
  });
  const found = await findKnown(db, asked, nodes_max);
  const unknown = vpc_ids.filter((id) => !found.has(id));
  if (unknown.length > 0) {
    for (const { pending, read_s, ...row } of await readAll(db, unknown, nodes_max)) {
      found.set(row.id, row);
      remember(known, row, { generation: row.generation, nodes: row.nodes, pending, read_s });
    }
  }
  return new Map([...found].map(([id, row]) => [id, realizedOf(row)]));
}

function remember(known: Map<string, Known>, { id, nodes_pending }: VpcRow, nodes: Known): void {
  known.delete(id);
  if (nodes_pending > nodes.pending.length) return;
  known.set(id, nodes);
  const [oldest] = known.keys();
  if (known.size > VPCS_KNOWN_MAX && oldest !== undefined) known.delete(oldest);
}

/** Whether the node has not applied generation `g`, according to its report `r`. True if there is no report. */
const isPending = (g: string) => sql.raw(`coalesce(r.generation < ${g} or r.status <> 'applied', true)`);

/** The report `r` of the node `server_uuid` as JSON. */
const NODE = sql.raw(`jsonb_build_object(
  'server_uuid', server_uuid, 'generation', generation, 'status', status, 'message', message,
  'reported_at', reported_at)`);

/** Reads the reports of VPCs whose nodes are known. Leaves out a VPC whose nodes must be read again. */
async function findKnown(
  db: Db,
  known: readonly (Known & { readonly id: string })[],
  nodes_max: number,
): Promise<Map<string, VpcRow>> {
  if (known.length === 0) return new Map();
  const asked = JSON.stringify(known);
  const { rows } = await sql<VpcRow>`
    select k.id, k.generation, k.nodes, p.nodes as nodes_pending,
           case when p.unapplied = 0 then least(k.generation, p.applied) end as applied_generation,
           (p.shown || s.shown) as shown
      from jsonb_to_recordset(${asked}::jsonb) k(id uuid, generation bigint, nodes bigint, pending uuid[], read_s float8)
      cross join lateral (
        select count(*) as nodes, count(*) filter (where applied_generation is null) as unapplied,
               min(applied_generation) as applied,
               coalesce(jsonb_agg(${NODE} order by server_uuid) filter (where position <= ${nodes_max}), '[]') as shown
          from (select p.server_uuid, r.generation, r.applied_generation, r.status, r.message, r.reported_at,
                       row_number() over (order by p.server_uuid) as position
                  from unnest(k.pending) p(server_uuid)
                  left join vpc_realization r on r.vpc_id = k.id and r.server_uuid = p.server_uuid
                 where ${isPending("k.generation")}) pending) p
      cross join lateral (
        select coalesce(jsonb_agg(${NODE} order by server_uuid), '[]') as shown
          from (select * from vpc_realization r
                 where r.vpc_id = k.id and r.generation = k.generation and r.status = 'applied'
                 order by server_uuid limit greatest(${nodes_max} - p.nodes, 0)) settled) s
      cross join lateral (
        select count(*) filter (where r.status = 'applied') as applied,
               count(*) filter (where r.status <> 'applied' and r.server_uuid <> all(k.pending)) as failed_since
          from vpc_realization r where r.vpc_id = k.id and r.generation = k.generation) newest
     where k.read_s > extract(epoch from clock_timestamp()) - ${KNOWN_S}
       and exists (select from vpc where vpc.id = k.id) and berth_vpc_generation(k.id) = k.generation
       and newest.failed_since = 0 and newest.applied + p.nodes = k.nodes`
    .execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Reads the nodes and the reports of VPCs. `pending` has at most PENDING_KNOWN_MAX nodes. */
async function readAll(
  db: Db,
  vpc_ids: readonly string[],
  nodes_max: number,
): Promise<(VpcRow & Pick<Known, "pending" | "read_s">)[]> {
  const { rows } = await sql<VpcRow & Pick<Known, "pending" | "read_s">>`
    select v.id, v.generation, n.nodes, n.nodes_pending, n.shown, n.pending,
           extract(epoch from clock_timestamp())::float8 as read_s,
           case when n.unapplied = 0 then least(v.generation, n.applied) end as applied_generation
      from (select id, berth_vpc_generation(id) as generation from vpc where id = any(${vpc_ids}) offset 0) v
      cross join lateral (
        select count(*) as nodes, count(*) filter (where is_pending) as nodes_pending,
               count(*) filter (where applied_generation is null) as unapplied, min(applied_generation) as applied,
               coalesce(jsonb_agg(${NODE} order by position) filter (where position <= ${nodes_max}), '[]') as shown,
               coalesce(jsonb_agg(server_uuid) filter (where is_pending and position <= ${PENDING_KNOWN_MAX}), '[]')
                 as pending
          from (select *, row_number() over (order by not is_pending, server_uuid) as position
                  from (select n.server_uuid, r.generation, r.applied_generation, r.status, r.message, r.reported_at,
                               ${isPending("v.generation")} as is_pending
                          from vpc_node n
                          left join vpc_realization r on r.vpc_id = n.vpc_id and r.server_uuid = n.server_uuid
                         where n.vpc_id = v.id) judged) ordered) n`.execute(db);
  return rows;
}

function realizedOf({ generation, applied_generation, nodes, nodes_pending, shown }: VpcRow): Realized {
  return {
    desired_generation: generation,
    applied_generation,
    nodes,
    nodes_pending,
    realizations: shown.map((node) => ({
      realizer: { kind: "cn", id: node.server_uuid },
      generation: node.generation ?? 0,
      status: node.status,
      last_reported_at: node.reported_at === null ? null : toRfc3339(new Date(node.reported_at)),
      message: node.message,
    })),
  };
}

/**
 * Returns the given keys for which all nodes of the VPC have applied the generation. A key is `VPC_ID GENERATION`, or
 * `VPC_ID GENERATION NAT_GATEWAY_ID`. A key with a NAT gateway needs more: the gateway must have a node, and the nodes
 * must have applied the VPC's current generation.
 */
export async function findApplied(
  db: Db,
  keys: readonly string[],
): Promise<Map<string, { readonly applied: true }>> {
  const { rows } = await sql<{ key: string }>`
    select k.key from unnest(${keys}::text[]) k(key)
      cross join lateral (
        select split_part(k.key, ' ', 1)::uuid as vpc_id, split_part(k.key, ' ', 2)::bigint as generation,
               nullif(split_part(k.key, ' ', 3), '')::uuid as nat_gateway_id offset 0) w
      left join nat_gateway g on g.id = w.nat_gateway_id
     where (w.nat_gateway_id is null or g.host_cn_uuid is not null)
       and not exists (
         select from vpc_node n left join vpc_realization r on r.vpc_id = n.vpc_id and r.server_uuid = n.server_uuid
          where n.vpc_id = w.vpc_id
            and coalesce(r.applied_generation < case when w.nat_gateway_id is null then w.generation
                                                     else berth_vpc_generation(w.vpc_id) end, true))`.execute(db);
  return new Map(rows.map(({ key }) => [key, { applied: true }]));
}

type Realizable = { readonly realized: Realized | null };

/** Returns the `realized` of one view, from the `realized` of its VPC. */
type Narrow<V> = (view: V, realized: Realized) => Realized;

/** Adds `realized` to each view of a list: the state of the view's VPC on its nodes. */
export async function addRealized<V extends Realizable>(
  db: Db,
  views: readonly V[],
  vpcOf: (view: V) => string,
  narrow: Narrow<V> = (_view, realized) => realized,
  nodes_max: number = REALIZATIONS_IN_LIST_MAX,
): Promise<V[]> {
  if (views.length === 0) return [];
  const found = await findRealized(db, [...new Set(views.map(vpcOf))], nodes_max);
  return views.map((view) => {
    const realized = found.get(vpcOf(view));
    return { ...view, realized: realized === undefined ? null : narrow(view, realized) };
  });
}

/** Returns a query that adds `realized` to each view, as addRealized does. */
export function withRealized<V extends Realizable>(
  find: Pick<Find<V>, "many">,
  vpcOf: (view: V) => string,
  narrow?: Narrow<V>,
): Pick<Find<V>, "many"> {
  return withAdded(find, (db, views) => addRealized(db, views, vpcOf, narrow, REALIZATIONS_MAX));
}

type Attached = Realizable & { readonly attached_to: string | null };

/** Adds `realized` to each attached floating IP of a list: the state of its NIC's VPC on the VPC's nodes. */
export async function addRealizedOfNics<V extends Attached>(
  db: Db,
  views: readonly V[],
  nodes_max: number = REALIZATIONS_IN_LIST_MAX,
): Promise<V[]> {
  const nic_ids = views.flatMap(({ attached_to }) => attached_to ?? []);
  if (nic_ids.length === 0) return [...views];
  const vpcs = await findVpcsOfNics(db, nic_ids);
  const vpcOf = ({ attached_to }: Attached) => vpcs.get(attached_to ?? "") ?? null;
  const found = await findRealized(db, [...new Set(vpcs.values())], nodes_max);
  return views.map((view) => ({ ...view, realized: found.get(vpcOf(view) ?? "") ?? null }));
}

/** Returns a query that adds `realized` to each attached floating IP, as addRealizedOfNics does. */
export function withRealizedOfNics<V extends Attached>(find: Pick<Find<V>, "many">): Pick<Find<V>, "many"> {
  return withAdded(find, (db, views) => addRealizedOfNics(db, views, REALIZATIONS_MAX));
}

function withAdded<V>(
  find: Pick<Find<V>, "many">,
  add: (db: Db, views: readonly V[]) => Promise<readonly V[]>,
): Pick<Find<V>, "many"> {
  return {
    many: async (db, ids) => {
      const found = [...await find.many(db, ids)];
      const views = await add(db, found.map(([, view]) => view));
      return new Map(found.map(([id], index) => [id, views[index]!]));
    },
  };
}

/** Finds the VPCs of NICs, by NIC id. */
async function findVpcsOfNics(db: Db, nic_ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await db.selectFrom("nic").select(["id", "vpc_id"]).where("id", "in", nic_ids).execute();
  return new Map(rows.map(({ id, vpc_id }) => [id, vpc_id]));
}
