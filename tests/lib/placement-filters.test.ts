// Tests every filter of placement at its boundary: it accepts the node, rejects the node with a reason, or is skipped.
import { describe, expect, test } from "vitest";
import type { PlacementFilter } from "../../src/contract/enums.ts";
import { PLACEMENT_FILTERS } from "../../src/contract/enums.ts";
import { filterResults } from "../../src/lib/placement/filters.ts";
import { type GroupRules, type WantedGroup, wantedGroup } from "../../src/lib/placement/group.ts";
import type { PlacementRequest } from "../../src/lib/placement/request.ts";
import { capacity, GIB, node, type NodeFields, NOW, request, SILO, STRANGER, TENANT, uuid } from "./placement-nodes.ts";

type Case = readonly [filter: PlacementFilter, node: NodeFields, request: Partial<PlacementRequest>, said: string];

const seen = (ago_s: number) => new Date(NOW.getTime() - ago_s * 1_000);
const used = (fields: Partial<ReturnType<typeof node>["used"]>) => ({
  used: { cpu_units: 0, ram_mb: 0, disk_bytes: 0, instances: 1, ...fields },
});
const zones = (total_GiB: number, free_GiB: number) =>
  capacity({
    zpools: [{ name: "zones", total_bytes: total_GiB * GIB, free_bytes: free_GiB * GIB, tier: "hdd" }],
  });
const moved = (from: Parameters<typeof capacity>[0], live = true) => ({ migration: { from: capacity(from), live } });
const props = (fields: object) => ({
  zpool_props: { zones: { compression: "lz4", encryption: "off", recordsize_bytes: 131_072, ...fields } },
});

/**
 * Returns a request of an instance in a group. The group's other instances are on these nodes or in these fault
 * domains.
 */
function grouped(rules: Partial<WantedGroup>, ...places: readonly string[]): Partial<PlacementRequest> {
  const others = new Map(places.map((place) => [place, 1]));
  const group = { id: uuid(90), name: "web", policy: "anti_affinity", level: "node", strictness: "required" } as const;
  return { group: { ...group, ...rules, others } };
}

/**
 * Filter, node, request, and the expected result: `accept`, `skip` or the reason of a rejection. The cases are in the
 * order of the filters.
 */
const CASES: readonly Case[] = [
  ["cn-approved-and-live", {}, {}, "accept"],
  ["cn-approved-and-live", { state: "disabled" }, {}, "it is disabled"],
  ["cn-approved-and-live", { last_seen: null }, {}, "it was never seen"],
  ["cn-approved-and-live", { last_seen: seen(60) }, {}, "accept"],
  ["cn-approved-and-live", { last_seen: seen(60.001) }, {}, "last seen 60 s ago, more than 60"],
  ["cn-not-in-avoid-list", {}, {}, "skip"],
  ["cn-not-in-avoid-list", {}, { avoid_cn: [uuid(2)] }, "accept"],
  ["cn-not-in-avoid-list", {}, { avoid_cn: [uuid(2), uuid(1)] }, "the request avoids it"],
  ["cn-capacity-present", {}, {}, "accept"],
  ["cn-capacity-present", { capacity: null }, {}, "it has not reported its capacity"],
  ["cn-role-matches", {}, {}, "accept"],
  ["cn-role-matches", { role: "both" }, {}, "accept"],
  ["cn-role-matches", { role: "edge" }, {}, "its role is edge, not tenant"],
  ["cn-not-reserved", {}, {}, "accept"],
  ["cn-not-reserved", { rules: { reserved: true } }, {}, "an operator reserved it"],
  [
    "cn-not-reserved",
    { rules: { reserved: true, reserved_reason: "for the lab" } },
    {},
    "an operator reserved it: for the lab",
  ],
  ["cn-not-cordoned", {}, {}, "accept"],
  ["cn-not-cordoned", { rules: { cordoned: true, cordoned_reason: "a fan" } }, {}, "it is cordoned: a fan"],
  ["cn-not-evacuating", { rules: { cordoned: true, cordoned_reason: "a fan" } }, {}, "accept"],
  ["cn-not-evacuating", { rules: { cordoned: true, cordoned_reason: "drain" } }, {}, "it is being emptied"],
  ["cn-scope-match", {}, {}, "accept"],
  ["cn-scope-match", { rules: { pinned_silo_uuid: SILO } }, {}, "accept"],
  ["cn-scope-match", { rules: { pinned_silo_uuid: STRANGER } }, {}, `it is pinned to silo ${STRANGER}`],
  ["cn-scope-match", { rules: { pinned_silo_uuid: SILO, pinned_tenant_uuid: TENANT } }, {}, "accept"],
  [
    "cn-scope-match",
    { rules: { pinned_silo_uuid: SILO, pinned_tenant_uuid: STRANGER } },
    {},
    `it is pinned to tenant ${STRANGER}`,
  ],
  [
    "cn-scope-match",
    { rules: { pinned_silo_uuid: SILO } },
    { tenant_id: null, silo_id: null },
    `it is pinned to silo ${SILO}`,
  ],
  ["cn-platform-min", {}, {}, "skip"],
  ["cn-platform-min", {}, { min_platform: "20260101T000000Z" }, "accept"],
  [
    "cn-platform-min",
    {},
    { min_platform: "20260101T000001Z" },
    "its platform 20260101T000000Z is older than 20260101T000001Z",
  ],
  ["cn-platform-min", { capacity: null }, { min_platform: "20260101T000000Z" }, "skip"],
  ["cn-traits-required", {}, {}, "skip"],
  ["cn-traits-required", { traits: { rack: "r1" } }, { traits: { rack: "r1" } }, "accept"],
  ["cn-traits-required", {}, { traits: { rack: "r1" } }, "it has no trait rack"],
  ["cn-traits-required", {}, { traits: { constructor: "r1" } }, "it has no trait constructor"],
  ["cn-traits-required", { traits: { rack: "r2" } }, { traits: { rack: "r1" } }, "its trait rack is r2, not r1"],
  ["cn-nic-tags", {}, {}, "skip"],
  ["cn-nic-tags", {}, { nic_tags: ["external"] }, "accept"],
  ["cn-nic-tags", {}, { nic_tags: ["external", "dmz"] }, "it does not offer NIC tag dmz"],
  ["cn-nic-tags", {}, { nic_tags: ["external"], bridged_nodes: { external: [uuid(1)] } }, "accept"],
  [
    "cn-nic-tags",
    {},
    { nic_tags: ["external"], bridged_nodes: { external: [uuid(2)] } },
    "it has no bridge for NIC tag external, which a floating IP needs",
  ],
  ["cn-underlay", {}, {}, "accept"],
  ["cn-underlay", { capacity: capacity({ underlay: { ipv4: false, ipv6: true } }) }, {}, "its underlay has no IPv4"],
  ["cn-underlay", {}, { underlay: ["v4", "v6"] }, "its underlay has no IPv6"],
  ["cn-zpool-has-space", {}, { disk_bytes: 0 }, "skip"],
  ["cn-zpool-has-space", {}, { disk_bytes: 1_000 * GIB }, "accept"],
  [
    "cn-zpool-has-space",
    {},
    { disk_bytes: 1_000 * GIB + 1 },
    `${1_000 * GIB} bytes of disk left of ${1_000 * GIB}, ${1_000 * GIB + 1} wanted`,
  ],
  ["cn-zpool-has-space", { capacity: capacity({ zpools: [] }) }, {}, "it has no pool zones"],
  // The disks are allocated to instances, although the pool reports all of its space as free.
  ["cn-zpool-has-space", used({ disk_bytes: 980 * GIB }), {}, "accept"],
  [
    "cn-zpool-has-space",
    used({ disk_bytes: 980 * GIB + 1 }),
    {},
    `${20 * GIB - 1} bytes of disk left of ${1_000 * GIB}, ${20 * GIB} wanted`,
  ],
  // The free space is limited by other data, and by disks that are not created yet.
  ["cn-zpool-has-space", { capacity: zones(1_000, 50), unmade_bytes: 30 * GIB }, {}, "accept"],
  [
    "cn-zpool-has-space",
    { capacity: zones(1_000, 50), unmade_bytes: 30 * GIB + 1 },
    {},
    `${20 * GIB - 1} bytes of disk left of ${50 * GIB}, ${20 * GIB} wanted`,
  ],
  [
    "cn-zpool-has-space",
    { capacity: zones(20, 20), rules: { overprovision_disk: 2 } },
    { disk_bytes: 40 * GIB },
    "accept",
  ],
  ["cn-ram-available", used({ ram_mb: 65_536 - 4_096 }), {}, "accept"],
  ["cn-ram-available", used({ ram_mb: 65_536 - 4_095 }), {}, "4095 MiB of memory left of 65536, 4096 wanted"],
  ["cn-ram-available", { ...used({ ram_mb: 65_536 }), rules: { overprovision_ram: 1.5 } }, {}, "accept"],
  ["cn-ram-available", { capacity: null }, {}, "skip"],
  ["cn-cpu-available", used({ cpu_units: 16 * 100 * 4 - 200 }), {}, "accept"],
  ["cn-cpu-available", used({ cpu_units: 16 * 100 * 4 - 199 }), {}, "199 CPU units left of 6400, 200 wanted"],
  [
    "cn-cpu-available",
    { ...used({ cpu_units: 1_500 }), rules: { overprovision_cpu: 1 } },
    {},
    "100 CPU units left of 1600, 200 wanted",
  ],
  ["cn-cpu-available", {}, { cpu_units: 16 * 100 }, "accept"],
  ["cn-cpu-available", {}, { cpu_units: 17 * 100 }, "it has 16 processors, 17 wanted"],
  [
    "cn-cpu-available",
    { capacity: capacity({ cpu_threads_logical: 1 }), rules: { overprovision_cpu: 64 } },
    {},
    "it has 1 processor, 2 wanted",
  ],
  ["cn-numa-fits", {}, {}, "accept"],
  ["cn-device-available", {}, {}, "skip"],
  ["cn-device-available", {}, { devices: [{ kind: "gpu", count: 3 }] }, "accept"],
  ["cn-device-available", {}, { devices: [{ kind: "gpu", model: "a", count: 2 }] }, "1 a free, 2 wanted"],
  ["cn-device-available", {}, { devices: [{ kind: "sr-iov-vf", count: 1 }] }, "0 sr-iov-vf free, 1 wanted"],
  ["cn-hvm-supported", {}, {}, "accept"],
  ["cn-hvm-supported", { capacity: capacity({ hvm_supported: false }) }, {}, "it has no hardware virtualisation"],
  ["cn-hvm-supported", { capacity: capacity({ hvm_supported: false }) }, { brand: "lx" }, "skip"],
  ["cn-affinity-required", {}, {}, "skip"],
  ["cn-affinity-required", {}, grouped({ strictness: "preferred" }, uuid(1)), "skip"],
  ["cn-affinity-required", {}, grouped({}, uuid(2)), "accept"],
  [
    "cn-affinity-required",
    {},
    grouped({}, uuid(1)),
    "another instance of placement group web is on the same node",
  ],
  ["cn-affinity-required", {}, grouped({ policy: "affinity" }), "accept"],
  ["cn-affinity-required", {}, grouped({ policy: "affinity" }, uuid(1)), "accept"],
  [
    "cn-affinity-required",
    {},
    grouped({ policy: "affinity" }, uuid(2)),
    "the instances of placement group web are on another node",
  ],
  [
    "cn-affinity-required",
    {},
    grouped({ level: "fault_domain" }),
    "it has no fault domain, which placement group web needs",
  ],
  ["cn-affinity-required", { rules: { fault_domain: "a3" } }, grouped({ level: "fault_domain" }, "a4"), "accept"],
  [
    "cn-affinity-required",
    { rules: { fault_domain: "a3" } },
    grouped({ level: "fault_domain" }, "a3"),
    "another instance of placement group web is in the same fault domain",
  ],
  ["cn-bhyve-compatible", {}, {}, "skip"],
  ["cn-bhyve-compatible", {}, moved({}), "accept"],
  ["cn-bhyve-compatible", {}, moved({ vmm_protocol_version: "1" }), "its VMM protocol is 2, not 1"],
  ["cn-bhyve-compatible", {}, moved({ vmm_protocol_version: null }), "its VMM protocol is 2, not unknown"],
  ["cn-bhyve-compatible", {}, moved({ vmm_protocol_version: "1" }, false), "skip"],
  ["cn-cpu-feature-superset", {}, {}, "skip"],
  ["cn-cpu-feature-superset", {}, moved({ cpu_features: ["avx"] }), "accept"],
  ["cn-cpu-feature-superset", {}, moved({ cpu_features: ["avx", "avx512"] }), "its CPU lacks avx512"],
  ["cn-time-synced", {}, {}, "skip"],
  ["cn-time-synced", {}, moved({ tsc_offset_ns: -100_000_000 }), "accept"],
  [
    "cn-time-synced",
    {},
    moved({ tsc_offset_ns: 100_000_001 }),
    "its clock is 100000001 ns off, more than 100000000",
  ],
  ["cn-time-synced", {}, moved({ tsc_offset_ns: null }), "the present node does not report the offset of its clock"],
  ["cn-zfs-compatible", {}, {}, "skip"],
  ["cn-zfs-compatible", {}, moved({}, false), "accept"],
  ["cn-zfs-compatible", {}, { ...moved({}), disk_bytes: 0 }, "skip"],
  ["cn-zfs-compatible", {}, moved(props({ encryption: "aes" })), "encryption of its pool is off, not aes"],
  ["cn-zfs-compatible", {}, moved({ zpool_props: {} }), "the properties of its pool are unknown"],
  ["cn-zfs-compatible", { capacity: capacity({ zpools: [] }) }, moved({}), "it has no pool zones"],
];

test("a group member on a node without a fault domain counts for affinity, but not for anti-affinity", () => {
  const members = [{ instance_id: uuid(7), server_uuid: uuid(2), fault_domain: null }];
  const said = (policy: GroupRules["policy"]) => {
    const rules = { id: uuid(90), name: "web", policy, level: "fault_domain", strictness: "required" } as const;
    const group = wantedGroup({ ...rules, members }, { instance_id: uuid(8) });
    return filterResults(node(1, { rules: { fault_domain: "a3" } }), request({ group }), NOW)
      .find(({ filter_name }) => filter_name === "cn-affinity-required")?.verdict;
  };
  expect([said("affinity"), said("anti_affinity")]).toEqual(["reject", "accept"]);
});

describe("the result of a filter", () => {
  test.each(CASES)("%s, case %#", (filter, fields, asked, said) => {
    const result = filterResults(node(1, fields), request(asked), NOW).find(({ filter_name }) =>
      filter_name === filter
    );
    expect(result?.reason ?? result?.verdict).toBe(said);
    expect(result?.verdict).toBe(said === "accept" || said === "skip" ? said : "reject");
  });

  test("the table CASES has a rejection for every filter that can reject a node", () => {
    const never: PlacementFilter[] = ["cn-numa-fits"];
    const rejecting = new Set(
      CASES.filter(([, , , said]) => said !== "accept" && said !== "skip").map(([name]) => name),
    );
    expect(PLACEMENT_FILTERS.filter((name) => !rejecting.has(name))).toEqual(never);
  });
});

test("all 23 filters run on a node in order, even after a filter has rejected the node", () => {
  const broken = node(1, { state: "disabled", capacity: null, rules: { reserved: true, cordoned: true } });
  const results = filterResults(broken, request(), NOW);
  expect(results.map(({ filter_name }) => filter_name)).toEqual(PLACEMENT_FILTERS);
  expect(results).toHaveLength(23);
  const rejected = results.filter(({ verdict }) => verdict === "reject").map(({ filter_name }) => filter_name);
  expect(rejected).toEqual(["cn-approved-and-live", "cn-capacity-present", "cn-not-reserved", "cn-not-cordoned"]);
});
