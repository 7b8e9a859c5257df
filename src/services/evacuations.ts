// Plans the evacuation of a dead node, and builds the messages that create its instances on other nodes.
import { type Kysely, sql } from "kysely";
import type { InstanceMessage } from "../../actors/instance/messages.ts";
import { type Fault, NO_ELIGIBLE_NODE, NOT_FOUND } from "../contract/fault.ts";
import { NODE_WAIT_MS, PLACEMENT_CANDIDATES_MAX } from "../contract/limits.ts";
import type { DrainPreview, NotPlaceableInstance } from "../contract/placement.ts";
import type { Database } from "../db/tables.ts";
import { type HostedInstance, movingRequest, previewDrain, rowOf } from "../lib/placement/drain.ts";
import { drawn, pick } from "../lib/placement/pick.ts";
import type { RouteDeps } from "../routes/deps.ts";
import { pause } from "./drains.ts";
import {
  findCapacity,
  findInstanceToPlace,
  hostedInstances,
  placementSnapshot,
  snapshotOf,
} from "./placement-snapshot.ts";

type Deps = Pick<RouteDeps, "kysely" | "byKey" | "nodesToPlace" | "settings">;

const STAYS = "its disks are only on this node";

/**
 * Returns what an evacuation would do with each instance of a node; NOT_FOUND for an unknown node. All disks are local,
 * so without `lose_local_disks` every instance remains.
 */
export async function evacuationPlan(
  deps: Deps,
  server_uuid: string,
  lose_local_disks: boolean,
): Promise<DrainPreview | Fault> {
  if (await findCapacity(deps.byKey, server_uuid) === undefined) return NOT_FOUND;
  const [{ profile, load_stale_s }, hosted, busy] = await Promise.all([
    deps.settings.placement(),
    hostedInstances(deps.kysely, server_uuid),
    findBusy(deps.kysely, server_uuid),
  ]);
  const snapshot = await placementSnapshot(deps.kysely, { load_stale_s });
  const free = hosted.filter(({ id }) => !busy.has(id));
  const occupied: NotPlaceableInstance[] = hosted.filter(({ id }) => busy.has(id)).map((instance) => ({
    ...rowOf(instance),
    reason: `operation ${busy.get(instance.id)} still runs on it`,
    remedy: "wait for the end of the operation, or abandon it; then evacuate the node again",
  }));
  // An evacuation moves no running guest, so the new node need not have the processor features of the dead node.
  const instances = free.map(toEvacuate);
  const plan = await previewDrain({ server_uuid, capacity: null, instances }, snapshot, profile, pause);
  const not_placeable = [...plan.not_placeable, ...occupied];
  if (lose_local_disks) {
    return { ...plan, instances_on_cn: hosted.length, not_placeable, capacity_ok: not_placeable.length === 0 };
  }
  const kept = plan.placeable.map(({ target_cn_uuid: _uuid, target_cn_hostname, ...row }): NotPlaceableInstance => ({
    ...row,
    reason: STAYS,
    remedy: `repair the node; or evacuate it with lose_local_disks, which creates the instance on ` +
      `${target_cn_hostname} from its image, without the data of its disks`,
  }));
  return {
    ...plan,
    instances_on_cn: hosted.length,
    placeable: [],
    not_placeable: [...kept, ...not_placeable],
    capacity_ok: false,
  };
}

/** On a dead node the instance is down, so it may also move to a node that cannot carry its floating IPs. */
function toEvacuate(instance: HostedInstance): HostedInstance {
  return { ...instance, bridged_nodes: {} };
}

/** Finds the running operation of each instance on a node. Leaves out instances without a running operation. */
async function findBusy(db: Kysely<Database>, server_uuid: string): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ id: string; operation_id: string }>`
    select i.id, coalesce(i.operation_id, m.id) as operation_id
      from instance i left join migration m on m.instance_id = i.id and not berth_migration_ended(m.state)
     where i.host_cn_uuid = ${server_uuid}::uuid and coalesce(i.operation_id, m.id) is not null`.execute(db);
  return new Map(rows.map(({ id, operation_id }) => [id, operation_id]));
}

export type EvacuationWanted = {
  readonly instance_id: string;
  readonly from_cn: string;
  /** The operation that evacuates the node. */
  readonly part_of: string;
  readonly operation_id: string;
  /** The number of earlier tries. In each earlier try, other instances filled all candidates before the commit. */
  readonly tries: number;
};

/**
 * Builds the message that creates an instance of a dead node on another node. Returns a Fault if the instance is
 * missing, or if no node can take it.
 */
export async function newEvacuation(deps: Deps, wanted: EvacuationWanted): Promise<InstanceMessage | Fault> {
  const { instance_id, from_cn, part_of, operation_id, tries } = wanted;
  const instance = await findInstanceToPlace(deps.kysely, instance_id);
  if (instance === undefined) return NOT_FOUND;
  const [nodes, { profile, load_stale_s }] = await Promise.all([deps.nodesToPlace(), deps.settings.placement()]);
  const snapshot = snapshotOf(nodes, load_stale_s);
  const among = snapshot.nodes.filter(({ server_uuid }) => server_uuid !== from_cn);
  const request = movingRequest({ capacity: null }, toEvacuate(instance), from_cn);
  const { candidates, report } = pick(request, { ...snapshot, nodes: among }, profile);
  if (candidates.length === 0) return NO_ELIGIBLE_NODE;
  return {
    type: "evacuate",
    silo_id: instance.silo_id,
    from_cn,
    part_of,
    candidates: tries === 0 ? candidates : drawn(report, PLACEMENT_CANDIDATES_MAX ** (tries + 1)),
    operation_id,
    limit_ms: NODE_WAIT_MS,
  };
}
