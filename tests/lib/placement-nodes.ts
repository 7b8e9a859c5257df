// Builds nodes and requests for tests of placement. A node with default fields accepts a request with default fields.
import type { CapacityReport } from "../../src/contract/agent.ts";
import { PLACEMENT_PROFILES_DEFAULT } from "../../src/contract/placement-profiles.ts";
import { type CnPlacementRules, UNRESTRICTED } from "../../src/contract/cn-placement.ts";
import { activeProfile } from "../../src/lib/placement/profile.ts";
import type { PlacementRequest } from "../../src/lib/placement/request.ts";
import type { NodeSnapshot, Snapshot } from "../../src/lib/placement/snapshot.ts";

export const NOW = new Date("2026-03-01T12:00:00.000Z");
export const GIB = 2 ** 30;
export const SILO = "aaaaaaaa-0000-4000-8000-000000000001";
export const TENANT = "aaaaaaaa-0000-4000-8000-000000000002";
export const STRANGER = "aaaaaaaa-0000-4000-8000-000000000003";
export const SPREAD = activeProfile(PLACEMENT_PROFILES_DEFAULT);

/** Returns the n-th node's UUID. The UUIDs sort in the order of n. */
export function uuid(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
}

/** Returns a capacity report. Default: 16 threads, 64 GiB of memory, 1,000 GiB of disk. */
export function capacity(fields: Partial<CapacityReport> = {}): CapacityReport {
  return {
    cpu_cores_physical: 8,
    cpu_threads_logical: 16,
    numa_nodes: [{ node_id: 0, cores: 8, ram_mb: 65_536 }],
    ram_total_mb: 65_536,
    ram_available_mb: 32_768,
    cpu_utilization_pct: 0.25,
    zpools: [{ name: "zones", total_bytes: 1_000 * GIB, free_bytes: 1_000 * GIB, tier: "nvme" }],
    nic_tags: ["external"],
    underlay: { ipv4: true, ipv6: false },
    devices: [{ kind: "gpu", model: "a", free_count: 1 }, { kind: "gpu", model: "b", free_count: 2 }],
    agent_version: null,
    platform_version: "20260101T000000Z",
    hvm_supported: true,
    vmm_protocol_version: "2",
    cpu_features: ["avx", "avx2"],
    tsc_offset_ns: 0,
    zpool_props: { zones: { compression: "lz4", encryption: "off", recordsize_bytes: 131_072 } },
    ...fields,
  };
}

export type NodeFields = Partial<Omit<NodeSnapshot, "placement">> & { readonly rules?: Partial<CnPlacementRules> };

export function node(n: number, { rules, ...fields }: NodeFields = {}): NodeSnapshot {
  return {
    server_uuid: uuid(n),
    hostname: `n${n}`,
    state: "approved",
    role: "tenant",
    last_seen: NOW,
    placement: { ...UNRESTRICTED, ...rules },
    traits: {},
    capacity: capacity(),
    used: { cpu_units: 0, ram_mb: 0, disk_bytes: 0, instances: 0 },
    unmade_bytes: 0,
    neighbours: [],
    load: null,
    ...fields,
  };
}

export function snapshot(...nodes: readonly NodeSnapshot[]): Snapshot {
  return { now: NOW, nodes };
}

/** Returns a request. Default: 2 vCPUs, 4 GiB of memory, 20 GiB of disk. */
export function request(fields: Partial<PlacementRequest> = {}): PlacementRequest {
  return {
    cpu_units: 200,
    ram_mb: 4_096,
    disk_bytes: 20 * GIB,
    role: "tenant",
    brand: "bhyve",
    min_platform: null,
    tenant_id: TENANT,
    silo_id: SILO,
    instance_id: "bbbbbbbb-0000-4000-8000-000000000001",
    avoid_cn: [],
    ...fields,
  };
}
