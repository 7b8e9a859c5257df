// Ranks the nodes for an instance, best first, and reports why the other nodes were rejected. The same snapshot,
// request and profile always give the same result. The result is a proposal; the commit checks the capacity again
// (guard_cn_has_room).
import type { ExplainReport, NodeReport, ScorerResult } from "../../contract/placement.ts";
import { PLACEMENT_SCORERS } from "../../contract/enums.ts";
import { PLACEMENT_CANDIDATES_MAX } from "../../contract/limits.ts";
import { toRfc3339 } from "../text/instant.ts";
import { filterResults } from "./filters.ts";
import type { Profile } from "./profile.ts";
import type { PlacementRequest } from "./request.ts";
import { fraction, type Scene, sceneOf, SCORERS } from "./scorers.ts";
import type { NodeSnapshot, Snapshot } from "./snapshot.ts";

/** The nodes to try, with the report that explains the choice. */
export type Picked = {
  /** At most PLACEMENT_CANDIDATES_MAX nodes, best first. */
  readonly candidates: string[];
  readonly report: ExplainReport;
};

/** Filters and scores every node of the snapshot. */
export function pick(request: PlacementRequest, snapshot: Snapshot, profile: Profile): Picked {
  const scene = sceneOf(request, snapshot);
  const per_cn = snapshot.nodes.map((node) => nodeReport(node, { scene, now: snapshot.now, profile }))
    .sort(request.group?.strictness === "preferred" ? preferred : better);
  const candidates = per_cn.filter(({ accepted }) => accepted).slice(0, PLACEMENT_CANDIDATES_MAX)
    .map(({ server_uuid }) => server_uuid);
  return {
    candidates,
    report: {
      request: asked(request),
      strategy: "filter-then-score",
      profile: profile.name,
      weights: { ...profile.weights },
      chosen: candidates[0] ?? null,
      reject_counts: rejectCounts(per_cn),
      generated_at: toRfc3339(snapshot.now),
      per_cn,
    },
  };
}

/**
 * Returns the candidates of a retry: some of the best nodes, in an order that depends on the instance. Therefore new
 * instances that competed for the same nodes do not all try the same nodes next.
 * @param among - The number of best nodes from which the candidates are taken.
 */
export function drawn({ per_cn, request }: ExplainReport, among: number): string[] {
  const lot = (server_uuid: string) => fraction(`${request.instance_id ?? ""}:${server_uuid}`);
  return per_cn.filter(({ accepted }) => accepted).slice(0, among).map(({ server_uuid }) => server_uuid)
    .sort((a, b) => lot(a) - lot(b) || (a < b ? -1 : 1)).slice(0, PLACEMENT_CANDIDATES_MAX);
}

type Judging = { readonly scene: Scene; readonly now: Date; readonly profile: Profile };

function nodeReport(node: NodeSnapshot, { scene, now, profile }: Judging): NodeReport {
  const filter_results = filterResults(node, scene.request, now);
  const accepted = filter_results.every(({ verdict }) => verdict !== "reject");
  const scorer_results = accepted ? scores(node, scene, profile) : [];
  return {
    server_uuid: node.server_uuid,
    hostname: node.hostname,
    filter_results,
    scorer_results,
    total_score: accepted ? scorer_results.reduce((sum, { contribution }) => sum + contribution, 0) : null,
    accepted,
    capacity_present: node.capacity !== null,
    load_summary_stale: node.load === null || node.load.stale,
  };
}

function scores(node: NodeSnapshot, scene: Scene, { weights }: Profile): ScorerResult[] {
  return PLACEMENT_SCORERS.map((name) => {
    const [raw, weight] = [SCORERS[name](node, scene), weights[name]];
    return { name, raw, weight, contribution: raw * weight };
  });
}

/**
 * Compares two nodes for sorting: accepted nodes before rejected nodes, then more points before fewer points, then the
 * lower UUID first.
 */
function better(a: NodeReport, b: NodeReport): number {
  const points = (b.total_score ?? -1) - (a.total_score ?? -1);
  return points !== 0 ? points : a.server_uuid < b.server_uuid ? -1 : 1;
}

/** Compares like `better`, but first by how well the nodes fit a preferred placement group. */
function preferred(a: NodeReport, b: NodeReport): number {
  const fit = ({ scorer_results }: NodeReport) =>
    scorer_results.find(({ name }) => name === "score-affinity-preferred")?.raw ?? -1;
  return fit(b) - fit(a) || better(a, b);
}

function rejectCounts(reports: readonly NodeReport[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { filter_name, verdict } of reports.flatMap(({ filter_results }) => filter_results)) {
    if (verdict === "reject") counts[filter_name] = (counts[filter_name] ?? 0) + 1;
  }
  return counts;
}

function asked(request: PlacementRequest): ExplainReport["request"] {
  const { cpu_units, ram_mb, disk_bytes, role, brand, min_platform, tenant_id, silo_id, instance_id } = request;
  return {
    cpu_units,
    ram_mb,
    disk_bytes,
    role,
    brand,
    min_platform,
    tenant_id,
    silo_id,
    instance_id,
    avoid_cn: [...request.avoid_cn],
    traits: { ...request.traits },
    nic_tags: [...request.nic_tags ?? []],
    placement_group_id: request.group?.id ?? null,
  };
}
