// Tests properties of placement with random nodes and requests.
import fc from "fast-check";
import { expect, test } from "vitest";
import { pick } from "../../src/lib/placement/pick.ts";
import { type NodeSnapshot, type Snapshot, withInstance } from "../../src/lib/placement/snapshot.ts";
import type { PlacementRequest } from "../../src/lib/placement/request.ts";
import { capacity, GIB, node, request, SILO, snapshot, SPREAD, STRANGER, TENANT, uuid } from "./placement-nodes.ts";

const ratio = fc.option(fc.double({ min: 0.1, max: 8, noNaN: true }));
const tenant = fc.constantFrom(TENANT, STRANGER);
/** A value that is true with a probability of one in eight. */
const rarely = fc.nat(7).map((n) => n === 0);

const aNode = fc.record({
  threads: fc.integer({ min: 1, max: 24 }),
  ram_mb: fc.integer({ min: 16_384, max: 131_072 }),
  total_bytes: fc.integer({ min: 0, max: 1_000 * GIB }),
  free_part: fc.double({ min: 0, max: 1, noNaN: true }),
  rules: fc.record({
    reserved: rarely,
    cordoned: rarely,
    overprovision_cpu: ratio,
    overprovision_ram: ratio,
    overprovision_disk: ratio,
    fault_domain: fc.option(fc.constantFrom("a", "b")),
    pinned_tenant_uuid: fc.option(tenant),
  }),
  unreported: rarely,
}).map(({ threads, ram_mb, total_bytes, free_part, rules, unreported }) => (n: number): NodeSnapshot =>
  node(n, {
    rules,
    capacity: unreported ? null : capacity({
      cpu_threads_logical: threads,
      ram_total_mb: ram_mb,
      zpools: [{ name: "zones", total_bytes, free_bytes: Math.floor(total_bytes * free_part), tier: "ssd" }],
    }),
  })
);
const nodes = fc.array(aNode, { maxLength: 6 }).map((made) => snapshot(...made.map((make, n) => make(n))));

/** The maximum sizes of random requests. In each of the first three kinds of request, only one size can be large. */
const LARGEST = {
  cpu: { cpu: 32, ram_mb: 256, disk_bytes: GIB },
  ram: { cpu: 1, ram_mb: 32_768, disk_bytes: GIB },
  disk: { cpu: 1, ram_mb: 256, disk_bytes: 200 * GIB },
  all: { cpu: 32, ram_mb: 32_768, disk_bytes: 200 * GIB },
};
const requestsUpTo = ({ cpu, ram_mb, disk_bytes }: (typeof LARGEST)["all"]) =>
  fc.record({
    cpu_units: fc.integer({ min: 1, max: cpu }).map((count) => count * 100),
    ram_mb: fc.integer({ min: 0, max: ram_mb }),
    disk_bytes: fc.integer({ min: 0, max: disk_bytes }),
    tenant_id: tenant,
    instance_id: fc.nat(1_000).map(uuid),
  }).map((fields): PlacementRequest => request(fields));
const aRequest = requestsUpTo(LARGEST.all);
const manyRequests = fc.constantFrom(...Object.values(LARGEST)).chain((largest) =>
  fc.array(requestsUpTo(largest), { maxLength: 40, size: "max" })
);

type Placed = { readonly asked: PlacementRequest; readonly on: string };

/** Places instances one after the other, each on its first candidate, as commits do. */
function placeAll(start: Snapshot, requests: readonly PlacementRequest[]): Placed[] {
  let nodes = start;
  return requests.flatMap((asked) => {
    const [on] = pick(asked, nodes, SPREAD).candidates;
    if (on === undefined) return [];
    nodes = withInstance(nodes, on, { ...asked, tenant_id: asked.tenant_id!, silo_id: SILO, count: 1 });
    return [{ asked, on }];
  });
}

/** Returns whether a node is overcommitted. Computes the node's use from its instances instead of its counters. */
function overcommitted({ capacity: report, placement: rules }: NodeSnapshot, on: readonly PlacementRequest[]): boolean {
  if (report === null) return on.length > 0;
  const sum = (what: "cpu_units" | "ram_mb" | "disk_bytes") => on.reduce((total, asked) => total + asked[what], 0);
  const [pool] = report.zpools;
  return sum("cpu_units") > report.cpu_threads_logical * 100 * (rules.overprovision_cpu ?? 4) ||
    sum("ram_mb") > report.ram_total_mb * (rules.overprovision_ram ?? 1) ||
    sum("disk_bytes") > pool!.total_bytes * (rules.overprovision_disk ?? 1) ||
    sum("disk_bytes") > pool!.free_bytes * (rules.overprovision_disk ?? 1);
}

test("no sequence of placements overcommits a node or uses a node that is cordoned, reserved or pinned to another tenant", () => {
  fc.assert(
    fc.property(nodes, manyRequests, (start, requests) => {
      const placed = placeAll(start, requests);
      for (const each of start.nodes) {
        const on = placed.filter((one) => one.on === each.server_uuid).map(({ asked }) => asked);
        expect(overcommitted(each, on)).toBe(false);
        const { reserved, cordoned, pinned_tenant_uuid: pin } = each.placement;
        if (reserved || cordoned) expect(on).toEqual([]);
        if (pin !== null) expect(on.filter(({ tenant_id }) => tenant_id !== pin)).toEqual([]);
      }
    }),
    { numRuns: 300 },
  );
});

test("the candidates are exactly the accepted nodes with the most points", () => {
  fc.assert(fc.property(nodes, aRequest, (snap, asked) => {
    const { candidates, report } = pick(asked, snap, SPREAD);
    const accepted = report.per_cn.filter((each) => each.filter_results.every(({ verdict }) => verdict !== "reject"));
    expect(report.per_cn).toHaveLength(snap.nodes.length);
    expect(candidates).toEqual(accepted.slice(0, 8).map(({ server_uuid }) => server_uuid));
    const points = accepted.map(({ total_score }) => total_score!);
    expect(points).toEqual([...points].sort((a, b) => b - a));
    for (const { raw } of accepted.flatMap(({ scorer_results }) => scorer_results)) {
      expect(raw >= 0 && raw <= 1).toBe(true);
    }
  }));
});

test("the order of the nodes has no effect", () => {
  fc.assert(fc.property(nodes, aRequest, (snap, asked) => {
    const reversed = { ...snap, nodes: [...snap.nodes].reverse() };
    expect(pick(asked, reversed, SPREAD)).toEqual(pick(asked, snap, SPREAD));
  }));
});

test("a node that rejects a request for lack of room also rejects a larger request", () => {
  fc.assert(fc.property(nodes, aRequest, fc.nat(1_000), fc.nat(100), (snap, asked, ram, cpu) => {
    const larger = { ...asked, ram_mb: asked.ram_mb + ram, cpu_units: asked.cpu_units + cpu };
    const accepted = (what: PlacementRequest) =>
      pick(what, snap, SPREAD).report.per_cn.filter((each) => each.accepted).map(({ server_uuid }) => server_uuid);
    const small = new Set(accepted(asked));
    expect(accepted(larger).filter((id) => !small.has(id))).toEqual([]);
  }));
});

test("adding and removing an instance leaves the nodes unchanged", () => {
  fc.assert(fc.property(nodes, fc.nat(5), aRequest, (snap, n, asked) => {
    const of = { ...asked, tenant_id: TENANT, silo_id: SILO };
    const there = withInstance(snap, uuid(n), { ...of, count: 1 });
    expect(withInstance(there, uuid(n), { ...of, count: -1 })).toEqual(snap);
  }));
});
