// A compute node as operators see it, and as its own agent sees it. Secrets leave neither way.
import type { RegistrationView } from "../../src/contract/agent.ts";
import type { CnReservoirView, CnView } from "../../src/contract/cn.ts";
import type { CnPlacement } from "../../src/contract/cn-placement.ts";
import { formatClaimCode } from "../../src/pure/claim-code.ts";
import { toRfc3339 } from "../../src/pure/instant.ts";
import { redactSysinfo } from "../../src/pure/redact-sysinfo.ts";
import type { CnState } from "./state.ts";

/** The columns that an operator sees. */
type Shown = Pick<
  CnState,
  | "server_uuid"
  | "hostname"
  | "admin_ip"
  | "state"
  | "role"
  | "registered_at"
  | "approved_at"
  | "last_seen"
  | "sysinfo"
  | "claim_code"
  | "claim_code_expires_at"
  | "bound_api_key_id"
  | "last_status"
  | "last_setup_error"
  | "setup_progress"
  | "disk_layout"
  | "conflict"
>;

/** Document 2, CnView: sysinfo without its secret boot parameters, keys only by id. */
export function cnView(s: Shown): CnView {
  return {
    server_uuid: s.server_uuid,
    hostname: s.hostname,
    admin_ip: s.admin_ip,
    state: s.state,
    role: s.role,
    registered_at: toRfc3339(s.registered_at),
    approved_at: text(s.approved_at),
    last_seen: text(s.last_seen),
    sysinfo: redactSysinfo(s.sysinfo),
    claim_code: s.claim_code === null ? null : formatClaimCode(s.claim_code),
    claim_code_expires_at: text(s.claim_code_expires_at),
    bound_api_key_id: s.bound_api_key_id,
    last_status: redactSysinfo(s.last_status ?? null),
    last_setup_error: s.last_setup_error,
    setup_progress: s.setup_progress,
    disk_layout: s.disk_layout ?? null,
    conflict: s.conflict,
  };
}

/** What a registration answers. The poll token is not in it: the route derives it from `registration_id`. */
export type RegistrationReply = Omit<RegistrationView, "poll_token"> & { readonly registration_id: string | null };

export function registrationReply(s: CnState): RegistrationReply {
  return {
    server_uuid: s.server_uuid,
    state: s.state,
    claim_code: s.claim_code === null ? null : formatClaimCode(s.claim_code),
    claim_code_expires_at: text(s.claim_code_expires_at),
    registration_id: s.registration_id,
  };
}

/** Document 2, CnReservoirView: the override, and what holds after the cluster defaults. No clamp on this side. */
export function reservoirView(
  s: Pick<CnState, "server_uuid" | "reservoir_enabled" | "reservoir_percent">,
  defaults: { readonly enabled: boolean; readonly percent: number },
): CnReservoirView {
  return {
    server_uuid: s.server_uuid,
    reservoir_enabled: s.reservoir_enabled,
    reservoir_percent: s.reservoir_percent,
    effective_enabled: s.reservoir_enabled ?? defaults.enabled,
    effective_percent: s.reservoir_percent ?? defaults.percent,
  };
}

/** Document 4, 4.5: all that operators decided about placing work on the node. */
export function placementView(
  s: Pick<CnState, "server_uuid" | "placement" | "traits" | "reservoir_enabled" | "reservoir_percent">,
): CnPlacement {
  const { server_uuid, placement, traits, reservoir_enabled, reservoir_percent } = s;
  return { server_uuid, ...placement, traits, reservoir_enabled, reservoir_percent };
}

function text(date: Date | null): string | null {
  return date === null ? null : toRfc3339(date);
}
