import type { CnView } from "../../src/contract/cn.ts";

export const NODE_ID = "3f2a9c1e-0000-4000-8000-00000000c0de";

export function node(change: Partial<CnView> = {}): CnView {
  return {
    server_uuid: NODE_ID,
    hostname: "rack1-n4",
    admin_ip: null,
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
    last_setup_error: null,
    setup_progress: null,
    disk_layout: null,
    ...change,
  };
}
