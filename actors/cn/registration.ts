// The claim-code path: a machine registers, an operator approves the machine's claim, and the machine's agent gets the
// key. A registration without proof changes an existing record in one case only: a disabled node becomes pending
// (docs/nodes.md, "The claim-code path").
import { conflict, fault } from "../../src/contract/fault.ts";
import { UNPROVEN_NODES_MAX } from "../../src/contract/limits.ts";
import { type Identified, identified } from "../../src/lib/ids/registration-identity.ts";
import { serialOf } from "../../src/lib/ids/sysinfo-serial.ts";
import { audit, go, guard, refuse, remove, reply, take, upsert, withActor } from "../engine/effects.ts";
import type { Condition, Out, Part } from "../engine/types.ts";
import { reportedAdminIp } from "./admin-address.ts";
import { endClaims, proven } from "./claims.ts";
import { bindKey, dropKey, startNodeJoin } from "./credential.ts";
import type { Msg, NewNodeKey, NodeProof } from "./messages.ts";
import { BLANK, type CnState, NO_CODE, type On, resource } from "./state.ts";
import { reportedUnderlay, underlayMoved } from "./underlay.ts";
import { registrationReply } from "./view.ts";

/** The name of the budget row that counts the approvals left in the auto-approve window. */
const AUTO_APPROVE_BUDGET = "auto-approve";

/**
 * Internal refusal: the node already has a record, or no open window has approvals left. The registration continues as
 * a claim.
 */
export const NOT_JOINED = "no auto-approve window has room for this node";
/** Internal refusal: the registration has no valid proof for this record, so it continues as a claim. */
export const NO_PROOF = "the registration has no proof of this node";

/**
 * 429: the site has too many records that were never approved. The route adds the time until the first claim of the
 * site expires.
 */
export const UNPROVEN_FULL = fault(
  "too_many_requests",
  `the site has ${UNPROVEN_NODES_MAX} nodes that registered and were never approved`,
  { error_code: "TooManyRequests" },
);

/** Creates a node that is approved at once, because an open auto-approve window has approvals left. */
export function join(_s: null, m: Msg<"join">, now: Date): Out<CnState> {
  const { registration_id, poll_token_sha256 } = m;
  const base = {
    ...BLANK,
    ...identified(m),
    setup_epoch: null,
    registered_at: now,
    registration_id,
    poll_token_sha256,
  };
  const approved = approvedWith(base, m.key, now);
  const note = { server_uuid: m.server_uuid, hostname: m.hostname, bound_api_key_id: m.key.id, auto_approved: true };
  return go(
    approved,
    take(AUTO_APPROVE_BUDGET, 1, conflict(NOT_JOINED)),
    bindKey(m.server_uuid, m.key),
    startNodeJoin(approved, m.operation_id),
    audit("agent_register", resource(m), note),
    reply(registrationReply(approved)),
  );
}

/** Creates the record of an unknown server_uuid at its first claim. */
export function appearByClaim(_s: null, m: Msg<"claimed">, now: Date): Out<CnState> {
  const { type: _type, ...description } = m;
  const next: On<"pending"> = {
    ...BLANK,
    ...description,
    state: "pending",
    unproven: true,
    registered_at: now,
    approved_at: null,
    registration_id: null,
    poll_token_sha256: null,
    bound_api_key_id: null,
    pending_credential: null,
    ticket_keys: null,
  };
  return go(
    next,
    guard("unproven_are_counted", { max: UNPROVEN_NODES_MAX }, UNPROVEN_FULL),
    take("unproven-nodes", 1, UNPROVEN_FULL),
    claimed(m.server_uuid, "absent"),
  );
}

/** A disabled node that registers waits for approval again. Nothing else in its record changes. */
export function reopen(s: On<"disabled">): Out<CnState> {
  return go({ ...s, state: "pending" }, claimed(s.server_uuid, s.state));
}

function claimed(server_uuid: string, from: string) {
  return audit("cn_claimed", resource({ server_uuid }), { server_uuid, from });
}

/**
 * Ends the wait for approval when the last claim ends. An unproven record is removed. The record of any other node is
 * disabled again.
 */
export function endWaiting(s: On<"pending">): Out<CnState> {
  const { server_uuid } = s;
  const note = audit("cn_claims_expired", resource(s), { server_uuid, hostname: s.hostname, removed: s.unproven });
  if (!s.unproven) return go({ ...s, ...NO_CODE, state: "disabled" }, note);
  return go<CnState>(null, ...proven(s), ...satellitesOf(server_uuid), note);
}

/** Removes the rows that belong to a node's record. */
export function satellitesOf(server_uuid: string): readonly Part<CnState>[] {
  const tables = [
    "cn_signal",
    "cn_capacity",
    "cn_placement",
    "cn_nic_tag",
    "cn_load_summary",
    "placement_reservation",
    "vpc_realization",
  ];
  return tables.map((table) => remove(table, { server_uuid }));
}

/** Updates the description of an approved node. The node keeps its state and its key, and its token if it has one. */
export function refresh(s: On<"approved">, m: Msg<"refresh">, now: Date): Out<CnState> {
  if (!proves(s, m.proof)) return refuse(conflict(NO_PROOF));
  const next = { ...s, ...identified(m), admin_ip: reportedAdminIp(s, m), ...reportedUnderlay(s, m), ...tokenOf(s, m) };
  return refreshed({ ...next, last_seen: now }, m, now, underlayMoved(s, next));
}

/**
 * For a machine of the netboot path, updates only the displayed inventory and the last heartbeat, and adds a token if
 * the record has none. The machine's name, ports, boot records and the inventory for the disk layout come over the AMQP
 * broker.
 */
export function refreshInventory(
  s: On<"awaiting_setup"> | On<"setting_up">,
  m: Msg<"refresh">,
  now: Date,
): Out<CnState> {
  if (!proves(s, m.proof)) return refuse(conflict(NO_PROOF));
  const { sysinfo } = m;
  return refreshed({ ...s, sysinfo, serial: serialOf(sysinfo), ...tokenOf(s, m), last_seen: now }, m, now);
}

function proves(s: CnState, proof: NodeProof): boolean {
  return "key_id" in proof ? s.bound_api_key_id === proof.key_id : s.poll_token_sha256 === proof.poll_token_sha256;
}

function refreshed(
  next: CnState,
  m: Msg<"refresh">,
  now: Date,
  moved: readonly Condition[] = [],
): Out<CnState> {
  return go(
    next,
    ...moved,
    upsert("cn_signal", ["server_uuid"], { server_uuid: next.server_uuid, last_seen: now }),
    audit("agent_register", resource(m), { server_uuid: m.server_uuid, hostname: m.hostname }),
    reply(registrationReply(next)),
  );
}

/** Returns the token of the record, or of the registration if the record has no token. */
function tokenOf(s: CnState, m: Msg<"refresh">) {
  const { registration_id, poll_token_sha256 } = s.poll_token_sha256 === null ? m : s;
  return { registration_id, poll_token_sha256 };
}

/**
 * Accepts exactly this claim. The node gets the description and the token of the claim, and the other claims end. If
 * the node already has a key, the new key replaces it, because the machine may have been reinstalled and others may
 * know the old key.
 */
export function approve(s: On<"pending"> | On<"approved">, m: Msg<"approve">, now: Date): Out<CnState> {
  const { id, ...description } = m.claim;
  const { server_uuid, bound_api_key_id: replaced } = s;
  const accepted = { ...s, ...description, unproven: false, claims: [], last_seen: null, last_status: null };
  const next = approvedWith(accepted, m.key, now);
  return go(
    next,
    withActor({ kind: "enrolment-claim", id }, { type: "approve", claim_code: m.claim_code }),
    ...endClaims(server_uuid, id),
    ...proven(s),
    ...underlayMoved(s, next),
    // The machine may have been reinstalled, so the reports from before the approval are deleted.
    remove("cn_signal", { server_uuid }),
    ...(replaced === null ? [] : [dropKey(replaced)]),
    bindKey(server_uuid, m.key),
    startNodeJoin(next, m.operation_id),
    audit("cn_approve", resource(s), {
      server_uuid,
      hostname: next.hostname,
      claim_id: id,
      bound_api_key_id: m.key.id,
      ...(replaced !== null && { replaced_api_key_id: replaced }),
      operation_id: m.operation_id,
    }),
  );
}

export function eraseCredential(
  s: On<"approved"> | On<"disabled"> | On<"setting_up">,
  m: Msg<"key_used">,
): Out<CnState> {
  if (s.bound_api_key_id !== m.key_id || s.pending_credential === null) return { out: "ignore" };
  return go({ ...s, pending_credential: null });
}

type Unkeyed = Omit<
  On<"approved">,
  "state" | "approved_at" | "bound_api_key_id" | "pending_credential" | "ticket_keys"
>;

function approvedWith(s: Unkeyed & Identified, key: NewNodeKey, now: Date): On<"approved"> {
  return {
    ...s,
    ...NO_CODE,
    state: "approved",
    approved_at: now,
    bound_api_key_id: key.id,
    pending_credential: key.sealed,
    ticket_keys: key.sealed_tickets,
  };
}
