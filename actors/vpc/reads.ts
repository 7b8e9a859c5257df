// Queries for VPCs, and for the parts of them that the nodes have applied (docs/networking.md, "Realizations").
import { type Kysely, sql } from "kysely";
import type { RealizationStatus } from "../../src/contract/enums.ts";
import type { Realized, Vpc } from "../../src/contract/network.ts";
import type { Database } from "../../src/db/tables.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { type Find, type LabeledPage, reader } from "../record/reads.ts";
import { vpc } from "./transition.ts";

const COLUMNS = [
  "id",
  "tenant_id",
  "project_id",
  "main_route_table_id",
  "name",
  "description",
  "labels",
  "vni",
  "ipv4_block",
  "ipv6_block",
  "created_at",
] as const;

const vpcs = reader("vpc", COLUMNS, vpc.view);

export const findVpc = vpcs.find;

export type VpcQuery = LabeledPage & { readonly project_id: string };

/** Lists the VPCs of a project in the order of their creation. */
export function listVpcs(db: Kysely<Database>, { project_id, ...at }: VpcQuery): Promise<Vpc[]> {
  return vpcs.page(db, { project_id }, at);
}

type Db = Kysely<Database>;

/** A node of a VPC. The values are null until it has the VPC's document, or has reported. */
type NodeRow = {
  readonly server_uuid: string;
  readonly generation: number | null;
  readonly applied_generation: number | null;
  readonly status: RealizationStatus | null;
  readonly message: string | null;
  readonly reported_at: string | null;
};

/** Finds how far the nodes are with each of these VPCs, by VPC id. */
export async function findRealized(db: Db, vpc_ids: readonly string[]): Promise<Map<string, Realized>> {
  const { rows } = await sql<{ id: string; generation: number; nodes: NodeRow[] }>`
    select v.id, berth_vpc_generation(v.id) as generation, (
             select coalesce(jsonb_agg(jsonb_build_object(
                      'server_uuid', n.server_uuid, 'generation', r.generation, 'status', r.status,
                      'applied_generation', r.applied_generation, 'message', r.message, 'reported_at', r.reported_at)
                      order by n.server_uuid), '[]')
               from vpc_node n left join vpc_realization r on r.vpc_id = n.vpc_id and r.server_uuid = n.server_uuid
              where n.vpc_id = v.id) as nodes
      from vpc v where v.id = any(${vpc_ids})`.execute(db);
  return new Map(rows.map((row) => [row.id, realizedOf(row.generation, row.nodes)]));
}

function realizedOf(desired_generation: number, nodes: readonly NodeRow[]): Realized {
  return {
    desired_generation,
    applied_generation: leastApplied(desired_generation, nodes),
    realizations: nodes.map((node) => ({
      realizer: { kind: "cn", id: node.server_uuid },
      generation: node.generation ?? 0,
      status: node.status,
      last_reported_at: node.reported_at === null ? null : toRfc3339(new Date(node.reported_at)),
      message: node.message,
    })),
  };
}

/** Without nodes there is nothing to apply, so everything is in effect. */
function leastApplied(desired: number, nodes: readonly NodeRow[]): number | null {
  return nodes.reduce<number | null>((least, { applied_generation: applied }) => {
    return least === null || applied === null ? null : Math.min(least, applied);
  }, desired);
}

/**
 * Finds the keys whose generation all nodes of the VPC have applied. A key is `VPC_ID GENERATION`, or `VPC_ID
 * GENERATION NAT_GATEWAY_ID`. A key with a NAT gateway needs more: the gateway must have a node, and the nodes must
 * have applied the VPC's current generation.
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

/** Returns how much of the VPC's state is in effect for one view. */
type Narrow<V> = (view: V, realized: Realized) => Realized;

/** Adds to each view how far the nodes are with its VPC. */
export async function addRealized<V extends Realizable>(
  db: Db,
  views: readonly V[],
  vpcOf: (view: V) => string,
  narrow: Narrow<V> = (_view, realized) => realized,
): Promise<V[]> {
  if (views.length === 0) return [];
  const found = await findRealized(db, [...new Set(views.map(vpcOf))]);
  return views.map((view) => {
    const realized = found.get(vpcOf(view));
    return { ...view, realized: realized === undefined ? null : narrow(view, realized) };
  });
}

/** Returns the query for views with how far the nodes are. */
export function withRealized<V extends Realizable>(
  find: Pick<Find<V>, "many">,
  vpcOf: (view: V) => string,
  narrow?: Narrow<V>,
): Pick<Find<V>, "many"> {
  return withAdded(find, (db, views) => addRealized(db, views, vpcOf, narrow));
}

type Attached = Realizable & { readonly attached_to: string | null };

/** Adds to each attached floating IP how far the nodes are with the VPC of its NIC. */
export async function addRealizedOfNics<V extends Attached>(db: Db, views: readonly V[]): Promise<V[]> {
  const nic_ids = views.flatMap(({ attached_to }) => attached_to ?? []);
  if (nic_ids.length === 0) return [...views];
  const vpcs = await findVpcsOfNics(db, nic_ids);
  const vpcOf = ({ attached_to }: Attached) => vpcs.get(attached_to ?? "") ?? null;
  const found = await findRealized(db, [...new Set(vpcs.values())]);
  return views.map((view) => ({ ...view, realized: found.get(vpcOf(view) ?? "") ?? null }));
}

/** Returns the query for floating IPs with how far the nodes are. */
export function withRealizedOfNics<V extends Attached>(find: Pick<Find<V>, "many">): Pick<Find<V>, "many"> {
  return withAdded(find, addRealizedOfNics);
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
export async function findVpcsOfNics(db: Db, nic_ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await db.selectFrom("nic").select(["id", "vpc_id"]).where("id", "in", nic_ids).execute();
  return new Map(rows.map(({ id, vpc_id }) => [id, vpc_id]));
}
