// Scores the nodes that pass every filter. Each scorer returns 0 to 1.
import type { PlacementScorer } from "../../contract/enums.ts";
import { groupScore } from "./group.ts";
import type { PlacementRequest } from "./request.ts";
import { diskRoom, type NodeSnapshot, ramRoom, type Snapshot } from "./snapshot.ts";

/**
 * The request, and totals over all nodes. `mates` counts the instances of the request's tenant, by fault domain and in
 * total.
 */
export type Scene = {
  readonly request: PlacementRequest;
  readonly mates: { readonly total: number; readonly in: ReadonlyMap<string, number> };
};

/** Returns the points of one node, 0 to 1. */
export type Scorer = (node: NodeSnapshot, scene: Scene) => number;

/** How much an instance of the same silo on the node counts, relative to an instance of the same tenant. */
const SILO_NEIGHBOUR = 0.25;

/** Computes the totals that the scorers need, over all nodes, once per request. */
export function sceneOf(request: PlacementRequest, { nodes }: Snapshot): Scene {
  const mates = new Map<string, number>();
  let total = 0;
  for (const { neighbours, placement: { fault_domain } } of nodes) {
    const count = neighbours.find(({ tenant_id }) => tenant_id === request.tenant_id)?.count ?? 0;
    total += count;
    if (fault_domain !== null) mates.set(fault_domain, (mates.get(fault_domain) ?? 0) + count);
  }
  return { request, mates: { total, in: mates } };
}

const ramHeadroom: Scorer = (node, { request }) => {
  if (node.capacity === null || node.capacity.ram_total_mb === 0) return 0;
  return unit((ramRoom(node, node.capacity).left - request.ram_mb) / node.capacity.ram_total_mb);
};

const diskHeadroom: Scorer = (node, { request }) => {
  if (request.disk_bytes <= 0) return 0.5;
  const room = node.capacity === null ? null : diskRoom(node, node.capacity);
  return room === null || room.total === 0 ? 0 : unit((room.left - request.disk_bytes) / room.total);
};

const spread: Scorer = ({ placement: { fault_domain } }, { mates }) => {
  if (fault_domain === null || mates.total === 0) return 1;
  return 1 - (mates.in.get(fault_domain) ?? 0) / mates.total;
};

const fewerCotenants: Scorer = ({ neighbours }, { request: { tenant_id, silo_id } }) => {
  const weight = neighbours.reduce((sum, each) => {
    if (each.tenant_id === tenant_id) return sum + each.count;
    return each.silo_id === silo_id ? sum + SILO_NEIGHBOUR * each.count : sum;
  }, 0);
  return 1 / (1 + weight);
};

/**
 * Gives more points for a lower current load. Uses the load summary if it is recent, or else the capacity report. If
 * this source has no value, the score is 0.
 */
const avoidHotNow: Scorer = ({ load, capacity }) => {
  const known = load !== null && !load.stale
    ? [load.cpu_p95_5m, load.ram_used_p95_5m].filter((value) => value !== null)
    : liveSignals(capacity);
  if (known.length === 0) return 0;
  return unit(1 - known.reduce((sum, value) => sum + value, 0) / known.length);
};

/**
 * Returns the CPU and memory utilization in a capacity report, as fractions. A zero in the report means that the agent
 * does not know the value, so it is left out.
 */
function liveSignals(capacity: NodeSnapshot["capacity"]): number[] {
  if (capacity === null) return [];
  const { cpu_utilization_pct, ram_available_mb, ram_total_mb } = capacity;
  return [
    ...(cpu_utilization_pct === 0 ? [] : [cpu_utilization_pct]),
    ...(ram_available_mb === 0 || ram_total_mb === 0 ? [] : [1 - ram_available_mb / ram_total_mb]),
  ];
}

const preferLowBaseline: Scorer = ({ load }) =>
  load === null || load.stale || load.cpu_p50_1d === null ? 0 : unit(1 - load.cpu_p50_1d);

/** The scorers by name. */
export const SCORERS: Readonly<Record<PlacementScorer, Scorer>> = {
  "score-ram-headroom": ramHeadroom,
  "score-disk-headroom": diskHeadroom,
  "score-spread-by-fault-domain": spread,
  "score-pack-by-fault-domain": (node, scene) => 1 - spread(node, scene),
  "score-affinity-preferred": (node, { request }) => groupScore(node, request.group),
  "score-platform-current": ({ capacity }) => capacity === null ? 0 : 0.5,
  "score-fewer-cotenant-zones": fewerCotenants,
  "score-uniform-random": ({ server_uuid }, { request }) => fraction(`${server_uuid}:${request.instance_id ?? ""}`),
  "score-avoid-hot-now": avoidHotNow,
  "score-prefer-low-baseline": preferLowBaseline,
  // Not implemented yet: every node gets 0.
  "score-diurnal-fit": () => 0,
};

function unit(value: number): number {
  return Math.min(1, Math.max(0, value));
}

/**
 * Maps a text to a number that is at least 0 and less than 1. The numbers of different texts are uniformly distributed.
 * A mixing step follows FNV-1a, because the FNV-1a hashes of similar texts differ too little in their high bits.
 */
export function fraction(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
