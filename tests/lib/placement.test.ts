// Tests how a node is chosen: scorers, profiles, ties, and the report about every node.
import { describe, expect, test } from "vitest";
import type { PlacementScorer } from "../../src/contract/enums.ts";
import { PLACEMENT_SCORERS } from "../../src/contract/enums.ts";
import { PLACEMENT_CANDIDATES_MAX } from "../../src/contract/limits.ts";
import { ExplainReport } from "../../src/contract/placement.ts";
import { PLACEMENT_PROFILES_DEFAULT, PlacementProfiles } from "../../src/contract/placement-profiles.ts";
import { drawn, pick } from "../../src/lib/placement/pick.ts";
import { activeProfile } from "../../src/lib/placement/profile.ts";
import type { PlacementRequest } from "../../src/lib/placement/request.ts";
import { withInstance } from "../../src/lib/placement/snapshot.ts";
import { sizesOf } from "../../src/lib/placement/request.ts";
import {
  capacity,
  GIB,
  node,
  type NodeFields,
  request,
  SILO,
  snapshot,
  SPREAD,
  STRANGER,
  TENANT,
  uuid,
} from "./placement-nodes.ts";

/** Returns a profile in which only this scorer has a weight. */
function only(scorer: PlacementScorer) {
  const weights = Object.fromEntries(PLACEMENT_SCORERS.map((name) => [name, name === scorer ? 1 : 0]));
  return activeProfile({ active: "p", profiles: [{ name: "p", description: "", builtin: false, weights }] });
}

function score(scorer: PlacementScorer, fields: NodeFields, asked: Partial<PlacementRequest> = {}): number | null {
  const others = [node(2, { rules: { fault_domain: "b" }, neighbours: [mates(3)] })];
  const { report } = pick(request(asked), snapshot(node(1, fields), ...others), only(scorer));
  return report.per_cn.find(({ server_uuid }) => server_uuid === uuid(1))!.total_score;
}

const mates = (count: number) => ({ tenant_id: TENANT, silo_id: SILO, count });
const load = (stale: boolean) => ({ stale, cpu_p95_5m: 0.2, ram_used_p95_5m: 0.4, cpu_p50_1d: 0.1 });
const used = { cpu_units: 0, ram_mb: 0, disk_bytes: 0, instances: 1 };

describe("the score that a scorer gives a node:", () => {
  test.each<[PlacementScorer, number, NodeFields, Partial<PlacementRequest>]>([
    ["score-ram-headroom", 0.75, { used: { ...used, ram_mb: 12_288 } }, {}],
    ["score-ram-headroom", 0, {}, { ram_mb: 65_536 }],
    ["score-disk-headroom", 0.5, {}, { disk_bytes: 0 }],
    ["score-disk-headroom", 0.75, { used: { ...used, disk_bytes: 230 * GIB } }, {}],
    ["score-spread-by-fault-domain", 1, {}, {}],
    ["score-spread-by-fault-domain", 0.75, { rules: { fault_domain: "a" }, neighbours: [mates(1)] }, {}],
    ["score-spread-by-fault-domain", 1, { rules: { fault_domain: "a" } }, { tenant_id: STRANGER }],
    ["score-spread-by-fault-domain", 0, { rules: { fault_domain: "b" } }, {}],
    ["score-pack-by-fault-domain", 0.25, { rules: { fault_domain: "a" }, neighbours: [mates(1)] }, {}],
    ["score-affinity-preferred", 0.5, {}, {}],
    ["score-platform-current", 0.5, {}, {}],
    ["score-fewer-cotenant-zones", 1, {}, {}],
    ["score-fewer-cotenant-zones", 0.5, { neighbours: [mates(1)] }, {}],
    ["score-fewer-cotenant-zones", 0.8, { neighbours: [{ tenant_id: STRANGER, silo_id: SILO, count: 1 }] }, {}],
    ["score-fewer-cotenant-zones", 1, { neighbours: [{ tenant_id: STRANGER, silo_id: STRANGER, count: 9 }] }, {}],
    ["score-avoid-hot-now", 0.7, { load: load(false) }, {}],
    // The load summary is stale, so the capacity report counts: a quarter of the CPU and half of the memory are used.
    ["score-avoid-hot-now", 0.625, { load: load(true) }, {}],
    ["score-avoid-hot-now", 0.5, { capacity: capacity({ cpu_utilization_pct: 0 }) }, {}],
    ["score-avoid-hot-now", 0, { capacity: capacity({ cpu_utilization_pct: 0, ram_available_mb: 0 }) }, {}],
    ["score-prefer-low-baseline", 0.9, { load: load(false) }, {}],
    ["score-prefer-low-baseline", 0, { load: load(true) }, {}],
    ["score-diurnal-fit", 0, {}, {}],
  ])("%s: %d, case %#", (scorer, expected, fields, asked) => {
    expect(score(scorer, fields, asked)).toBeCloseTo(expected, 12);
  });

  test("score-uniform-random is constant for a node and an instance, differs for another instance, and covers the whole range", () => {
    const of = (instance_id: string) => score("score-uniform-random", {}, { instance_id })!;
    expect(of(uuid(7))).toBe(of(uuid(7)));
    const drawn = Array.from({ length: 1_000 }, (_, n) => of(uuid(n)));
    expect(new Set(drawn).size).toBeGreaterThan(990);
    for (const tenth of Array.from({ length: 10 }, (_, n) => n)) {
      const count = drawn.filter((value) => Math.floor(value * 10) === tenth).length;
      expect(count).toBeGreaterThan(50);
    }
  });
});

describe("the profile", () => {
  test("that is active determines the weights, and the six built-in profiles exist", () => {
    const names = PLACEMENT_PROFILES_DEFAULT.profiles.map(({ name }) => name);
    expect(names).toEqual(["spread", "consolidate", "balanced", "performance", "isolation", "power-save"]);
    expect(activeProfile({ ...PLACEMENT_PROFILES_DEFAULT, active: "power-save" }).weights).toEqual({
      "score-ram-headroom": 0.75,
      "score-disk-headroom": 0.5,
      "score-spread-by-fault-domain": 0,
      "score-pack-by-fault-domain": 2.5,
      "score-affinity-preferred": 1,
      "score-platform-current": 0.5,
      "score-fewer-cotenant-zones": 0,
      "score-uniform-random": 0,
      "score-avoid-hot-now": 0.25,
      "score-prefer-low-baseline": 0,
      "score-diurnal-fit": 1.5,
    });
  });

  test("is the first profile if the active name is unknown; unknown scorers are ignored, and missing scorers get their default weight", () => {
    const weights = { "score-ram-headroom": 7, "score-of-nothing": 9 };
    const profiles = [{ name: "mine", description: "", builtin: false, weights }];
    expect(activeProfile({ active: "gone", profiles })).toEqual({
      name: "mine",
      weights: { ...SPREAD.weights, "score-ram-headroom": 7 },
    });
  });

  test("setting is rejected if the active profile does not exist or a weight is outside 0 to 10", () => {
    const weighing = (weight: number) => ({
      active: "p",
      profiles: [{ name: "p", description: "", builtin: false, weights: { "score-ram-headroom": weight } }],
    });
    const good = (value: unknown) => PlacementProfiles.safeParse(value).success;
    expect([0, 10, -0.1, 10.1].map((weight) => good(weighing(weight)))).toEqual([true, true, false, false]);
    expect(good({ ...weighing(1), active: "q" })).toBe(false);
  });

  test("decides the choice: spread chooses the empty node, and consolidate chooses the fault domain of the tenant's other instances", () => {
    const nodes = snapshot(
      node(1, { rules: { fault_domain: "a" } }),
      node(2, { rules: { fault_domain: "b" }, neighbours: [mates(4)], used: { ...used, ram_mb: 8_192, instances: 4 } }),
    );
    const chosen = (active: string) =>
      pick(request(), nodes, activeProfile({ ...PLACEMENT_PROFILES_DEFAULT, active })).report.chosen;
    expect(chosen("spread")).toBe(uuid(1));
    expect(chosen("consolidate")).toBe(uuid(2));
  });
});

describe("a pick", () => {
  test("chooses the node with the lowest UUID if scores are equal, whatever the order of the nodes", () => {
    const tied = only("score-platform-current");
    const nodes = [3, 1, 2].map((n) => node(n));
    expect(pick(request(), snapshot(...nodes), tied).candidates).toEqual([uuid(1), uuid(2), uuid(3)]);
  });

  test("names at most eight candidates, best first", () => {
    const nodes = Array.from({ length: 12 }, (_, n) => node(n, { used: { ...used, ram_mb: n * 1_024 } }));
    const { candidates } = pick(request(), snapshot(...nodes), only("score-ram-headroom"));
    expect(PLACEMENT_CANDIDATES_MAX).toBe(8);
    expect(candidates).toEqual(Array.from({ length: 8 }, (_, n) => uuid(n)));
  });

  test("draws from the best nodes for a retry, in an order that differs between instances", () => {
    const nodes = [
      ...Array.from({ length: 40 }, (_, n) => node(n, { used: { ...used, ram_mb: n * 1_024 } })),
      ...Array.from({ length: 40 }, (_, n) => node(40 + n, { rules: { reserved: true } })),
    ];
    const draw = (instance_id: string, among: number) =>
      drawn(pick(request({ instance_id }), snapshot(...nodes), only("score-ram-headroom")).report, among);
    const first = draw(uuid(1), 16);
    expect(first).toHaveLength(PLACEMENT_CANDIDATES_MAX);
    expect(new Set(first).size).toBe(PLACEMENT_CANDIDATES_MAX);
    expect(first.every((id) => Array.from({ length: 16 }, (_, n) => uuid(n)).includes(id))).toBe(true);
    expect(draw(uuid(1), 16)).toEqual(first);
    expect(draw(uuid(2), 16)).not.toEqual(first);
    const all = new Set(Array.from({ length: 100 }, (_, n) => draw(uuid(n), 10_000)).flat());
    expect([...all].sort()).toEqual(Array.from({ length: 40 }, (_, n) => uuid(n)).sort());
  });

  test("has no candidate if no node fits, and counts the rejections", () => {
    expect(pick(request(), snapshot(), SPREAD)).toMatchObject({
      candidates: [],
      report: { chosen: null, per_cn: [], reject_counts: {} },
    });
    const { candidates, report } = pick(
      request({ ram_mb: 70_000 }),
      snapshot(node(1), node(2, { rules: { reserved: true } })),
      SPREAD,
    );
    expect(candidates).toEqual([]);
    expect(report.reject_counts).toEqual({ "cn-ram-available": 2, "cn-not-reserved": 1 });
    expect(report.per_cn.map(({ total_score, scorer_results }) => [total_score, scorer_results])).toEqual([
      [null, []],
      [null, []],
    ]);
  });

  test("has a report that matches the API's schema; the scores of a node add up to the node's total", () => {
    const { report } = pick(request(), snapshot(node(1), node(2, { capacity: null })), SPREAD);
    expect(ExplainReport.parse(JSON.parse(JSON.stringify(report)))).toEqual(report);
    const [best, rejected] = report.per_cn;
    expect(best!.scorer_results.map(({ name }) => name)).toEqual(PLACEMENT_SCORERS);
    expect(best!.total_score).toBeCloseTo(best!.scorer_results.reduce((sum, s) => sum + s.raw * s.weight, 0), 12);
    expect(rejected).toMatchObject({ accepted: false, capacity_present: false, load_summary_stale: true });
  });
});

test("sizesOf counts 100 units per vCPU, and memory in whole MiB, rounded down", () => {
  expect(sizesOf({ cpu: 3, memory_bytes: 2 ** 20 * 5 - 1, disk_bytes: 7 })).toEqual({
    cpu_units: 300,
    ram_mb: 4,
    disk_bytes: 7,
  });
});

test("withInstance adds the instance to the node's use and neighbours, and counts its disk as not created yet", () => {
  const start = snapshot(node(1, { used, neighbours: [mates(1)] }), node(2));
  const { nodes } = withInstance(start, uuid(1), { ...request(), tenant_id: TENANT, silo_id: SILO, count: 1 });
  expect(nodes[0]).toMatchObject({
    used: { cpu_units: 200, ram_mb: 4_096, disk_bytes: 20 * GIB, instances: 2 },
    unmade_bytes: 20 * GIB,
    neighbours: [mates(2)],
  });
  expect(nodes[1]).toEqual(start.nodes[1]);
});
