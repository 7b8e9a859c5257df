// The views of a compute node for operators, for booters and for the node's own agent. No view contains a key, a
// password hash or a secret boot parameter. Only the operators' view contains claim codes.
import { CLAIM_FIELDS, type CnClaim, type CnReservoirView, type CnView } from "../../src/contract/cn.ts";
import type { CnPlacement } from "../../src/contract/cn-placement.ts";
import { formatClaimCode } from "../../src/lib/ids/claim-code.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { redactSysinfo } from "../../src/lib/text/redact-sysinfo.ts";
import type { RegistrationReply } from "../enrolment-claim/state.ts";
import type { ClaimSummary, CnState } from "./state.ts";
import { underlayOf } from "./underlay.ts";

/** The columns from which the operators' view is computed. */
type Shown = Pick<
  CnState,
  | "server_uuid"
  | "hostname"
  | "admin_ip"
  | "underlay_address"
  | "underlay_mtu"
  | "underlay_address_set"
  | "underlay_mtu_set"
  | "state"
  | "role"
  | "registered_at"
  | "approved_at"
  | "last_seen"
  | "sysinfo"
  | "macs"
  | "serial"
  | "claims"
  | "bound_api_key_id"
  | "last_status"
  | "agent_version"
  | "last_setup_error"
  | "setup_progress"
  | "disk_layout"
  | "conflict"
  | "placement"
>;

/**
 * Returns the operators' view. The view has the sysinfo without secret boot parameters, and only the id of the node's
 * key.
 */
export function cnView(s: Shown): CnView {
  const claims = s.claims.map((claim) => claimView(claim, s));
  const newest = s.state === "pending" ? claims.at(-1) : undefined;
  const underlay = underlayOf(s);
  return {
    server_uuid: s.server_uuid,
    hostname: s.hostname,
    admin_ip: s.admin_ip,
    underlay_address: underlay.address,
    underlay_mtu: underlay.mtu,
    state: s.state,
    role: s.role,
    labels: s.placement.labels,
    registered_at: toRfc3339(s.registered_at),
    approved_at: text(s.approved_at),
    last_seen: text(s.last_seen),
    agent_version: s.agent_version,
    sysinfo: redactSysinfo(s.sysinfo),
    claim_code: newest?.claim_code ?? null,
    claim_code_expires_at: newest?.claim_code_expires_at ?? null,
    bound_api_key_id: s.bound_api_key_id,
    last_status: redactSysinfo(s.last_status ?? null),
    last_setup_error: s.last_setup_error,
    setup_progress: s.setup_progress,
    disk_layout: s.disk_layout ?? null,
    conflict: s.conflict,
    claims,
    identity_conflict: claims.some(({ differs }) => differs.length > 0),
  };
}

/** The view of a claim, with its differences from the record. */
function claimView(claim: ClaimSummary, s: Pick<CnState, "hostname" | "admin_ip" | "serial" | "macs">): CnClaim {
  const { hostname, admin_ip, serial, macs, source } = claim;
  const differs = {
    hostname: hostname !== s.hostname,
    admin_ip: admin_ip !== s.admin_ip,
    serial: serial !== s.serial,
    macs: [...macs].sort().join() !== [...s.macs].sort().join(),
  };
  return {
    claim_code: formatClaimCode(claim.claim_code),
    claim_code_expires_at: toRfc3339(new Date(claim.expires_at)),
    hostname,
    admin_ip,
    serial,
    macs: [...macs],
    source,
    differs: CLAIM_FIELDS.filter((field) => differs[field]),
  };
}

/** The booter's view: without claims, which only operators see. */
export function withoutClaims(view: CnView): CnView {
  return { ...view, claim_code: null, claim_code_expires_at: null, claims: [], identity_conflict: false };
}

/**
 * The reply to a registration that has a proof of the node (NodeProof), or that an auto-approve window approves. Any
 * other registration creates an enrolment claim and gets the claim's reply.
 */
export function registrationReply(s: CnState): RegistrationReply {
  return {
    server_uuid: s.server_uuid,
    state: s.state,
    claim_code: null,
    claim_code_expires_at: null,
    registration_id: s.registration_id,
  };
}

/**
 * The node's own reservoir settings and the effective settings. A default of the cluster applies where the node has no
 * setting of its own. `reservoir_percent` is a fraction. The node limits it to the range from 0 to 1.
 */
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

/** The placement rules that operators set on the node. */
export function placementView(
  s: Pick<CnState, "server_uuid" | "placement" | "traits" | "reservoir_enabled" | "reservoir_percent">,
): CnPlacement {
  const { server_uuid, placement, traits, reservoir_enabled, reservoir_percent } = s;
  return { server_uuid, ...placement, traits, reservoir_enabled, reservoir_percent };
}

function text(date: Date | null): string | null {
  return date === null ? null : toRfc3339(date);
}
