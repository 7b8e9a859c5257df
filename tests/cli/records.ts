import type { BootPolicy, BootRecord } from "../../src/contract/boot.ts";
import type { CnView } from "../../src/contract/cn.ts";

export const NODE_ID = "3f2a9c1e-0000-4000-8000-00000000c0de";

export function node(change: Partial<CnView> = {}): CnView {
  return {
    server_uuid: NODE_ID,
    hostname: "rack1-n4",
    admin_ip: null,
    underlay_address: null,
    underlay_mtu: null,
    state: "pending",
    role: "tenant",
    registered_at: "2026-11-21T10:00:00Z",
    approved_at: null,
    last_seen: null,
    sysinfo: { "MiB of Memory": 131072 },
    claim_code: null,
    claim_code_expires_at: null,
    bound_api_key_id: null,
    last_status: null,
    agent_version: "1.4.0",
    last_setup_error: null,
    setup_progress: null,
    disk_layout: null,
    conflict: null,
    claims: [],
    identity_conflict: false,
    labels: {},
    ...change,
  };
}

export const MAC = "02:00:00:00:00:01";
export const PI = "20261001T000000Z";

export function bootRecord(change: Partial<BootRecord> = {}): BootRecord {
  return {
    mac: MAC,
    state: "enrolling",
    address: "10.7.0.10",
    networking: {
      address: "10.7.0.10",
      prefix_len: 24,
      gateway: "10.7.0.1",
      resolvers: ["10.7.0.1"],
      hostname: null,
      nic_tags: [],
    },
    provenance: { source: "booter", first_seen_at: "2026-11-21T10:00:00Z", first_seen_by: "k1" },
    server_uuid: null,
    assigned_pi: null,
    rescue: false,
    hostname: null,
    kernel_args: [],
    console: null,
    created_at: "2026-11-21T10:00:00Z",
    updated_at: "2026-11-21T10:00:00Z",
    ...change,
  };
}

export function bootPolicy(change: Partial<BootPolicy> = {}): BootPolicy {
  return {
    auto_enroll: true,
    allowlist: [],
    enrollment_pi: PI,
    enrollment_kernel_args: [],
    admin_network: {
      ipv4_block: "10.7.0.0/24",
      provision_start_ipv4: "10.7.0.10",
      provision_end_ipv4: "10.7.0.99",
      gateway: "10.7.0.1",
      resolvers: [],
    },
    rack_networks: [],
    label_arguments: [],
    ...change,
  };
}
