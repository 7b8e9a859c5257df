// The claim-code path: a node agent registers, an operator approves it, the agent takes its key. Document 4, 1.3 to 1.5.
import { fault, NOT_FOUND } from "../../src/contract/fault.ts";
import { addMs } from "../../src/pure/instant.ts";
import { macsOf } from "../../src/pure/sysinfo-macs.ts";
import { audit, go, otherwise, refuse, remove, reply, take, upsert } from "../engine/decide.ts";
import { planted } from "../engine/planted.ts";
import type { Out, Part } from "../engine/types.ts";
import { reportedAdminIp } from "./admin-address.ts";
import { bindKey, dropKey, startNodeJoin } from "./credential.ts";
import type { Msg, NewNodeKey } from "./messages.ts";
import { BLANK, type CnState, type On, resource } from "./state.ts";
import { registrationReply } from "./view.ts";

/** The budget row that the auto-approve window keeps. */
const AUTO_APPROVE_BUDGET = "auto-approve";

/** A new node: approved at once when an auto-approve window has room, otherwise pending with a claim code. */
export function join(_s: null, m: Msg<"register">, now: Date): Out<CnState> {
  const pending = pendingFrom(
    { ...BLANK, registered_at: now },
    m,
    now,
  );
  const approved = approvedFrom(pending, m.key, now);
  const note = { server_uuid: m.server_uuid, hostname: m.hostname, bound_api_key_id: m.key.id, auto_approved: true };
  return go(
    approved,
    take(AUTO_APPROVE_BUDGET, planted("window_budget_not_taken") ? 0 : 1, NO_WINDOW),
    bindKey(m.server_uuid, m.key),
    startNodeJoin(approved, m.operation_id),
    audit("agent_register", resource(m), note),
    reply(registrationReply(approved)),
    otherwise(registered(pending, m)),
  );
}

// Never shown: the registration goes on without the window.
const NO_WINDOW = fault("conflict", "no auto-approve window has room");

export function renew(s: On<"pending">, m: Msg<"register">, now: Date): Out<CnState> {
  return registered(pendingFrom(s, m, now), m);
}

/** A disabled node that registers afresh starts over: its old key goes, since nothing refers to it any more. */
export function rejoin(s: On<"disabled">, m: Msg<"register">, now: Date): Out<CnState> {
  const next = pendingFrom({ ...s, last_status: null }, m, now);
  const key = planted("rejoin_keeps_key") ? null : s.bound_api_key_id;
  const dropped: Part<CnState>[] = key === null ? [] : [dropKey(key)];
  return registered(next, m, remove("cn_signal", { server_uuid: s.server_uuid }), ...dropped);
}

function registered(next: On<"pending">, m: Msg<"register">, ...parts: readonly Part<CnState>[]): Out<CnState> {
  const note = { server_uuid: m.server_uuid, hostname: m.hostname };
  return go(next, audit("agent_register", resource(m), note), reply(registrationReply(next)), ...parts);
}

/** An approved node keeps its state, its token and its key; what it says about itself is new. */
export function refresh(s: On<"approved">, m: Msg<"register">, now: Date): Out<CnState> {
  return refreshed(
    { ...s, ...announced(m), admin_ip: reportedAdminIp(s, m), ...tokenOf(s, m), last_seen: now },
    m,
    now,
  );
}

/**
 * A machine of the netboot path: only its inventory and that it was seen. Registration is anonymous; its name, its ports
 * and which boot records a setup enrols are told over the boot bus.
 */
export function refreshInventory(
  s: On<"awaiting_setup"> | On<"setting_up">,
  m: Msg<"register">,
  now: Date,
): Out<CnState> {
  return refreshed({ ...s, sysinfo: m.sysinfo, ...tokenOf(s, m), last_seen: now }, m, now);
}

function refreshed(next: CnState, m: Msg<"register">, now: Date): Out<CnState> {
  return go(
    next,
    upsert("cn_signal", ["server_uuid"], { server_uuid: next.server_uuid, last_seen: now }),
    audit("agent_register", resource(m), { server_uuid: m.server_uuid, hostname: m.hostname }),
    reply(registrationReply(next)),
  );
}

/** The token it has; a record that never had one gets this registration's. */
function tokenOf(s: CnState, m: Msg<"register">) {
  const { registration_id, poll_token_sha256 } = s.poll_token_sha256 === null ? m : s;
  return { registration_id, poll_token_sha256 };
}

export function approve(s: On<"pending">, m: Msg<"approve">, now: Date): Out<CnState> {
  // Unknown, expired and already approved codes look the same, so codes cannot be enumerated.
  const wrong = s.claim_code !== m.claim_code && !planted("any_code_approves");
  const expired = now >= s.claim_code_expires_at && !planted("code_never_expires");
  if (wrong || expired) return refuse(NOT_FOUND);
  const next = approvedFrom(s, m.key, now);
  return go(
    next,
    bindKey(s.server_uuid, m.key),
    startNodeJoin(next, m.operation_id),
    audit("cn_approve", resource(s), {
      server_uuid: s.server_uuid,
      hostname: s.hostname,
      bound_api_key_id: m.key.id,
      operation_id: m.operation_id,
    }),
  );
}

export function eraseCredential(
  s: On<"approved"> | On<"disabled"> | On<"setting_up">,
  m: Msg<"key_used">,
): Out<CnState> {
  if (s.bound_api_key_id !== m.key_id || s.pending_credential === null) return { out: "ignore" };
  return go(planted("credential_not_erased") ? s : { ...s, pending_credential: null });
}

type Kept = Omit<On<"pending">, keyof ReturnType<typeof announced> | "state" | keyof FreshRegistration>;
type FreshRegistration = Pick<
  On<"pending">,
  | "approved_at"
  | "claim_code"
  | "claim_code_expires_at"
  | "registration_id"
  | "poll_token_sha256"
  | "bound_api_key_id"
  | "pending_credential"
  | "ticket_keys"
>;

function pendingFrom(kept: Kept, m: Msg<"register">, now: Date): On<"pending"> {
  return {
    ...kept,
    ...announced(m),
    state: "pending",
    approved_at: null,
    claim_code: m.claim_code,
    claim_code_expires_at: addMs(now, m.claim_code_ttl_s * 1_000),
    registration_id: m.registration_id,
    poll_token_sha256: m.poll_token_sha256,
    bound_api_key_id: null,
    pending_credential: null,
    ticket_keys: null,
  };
}

/** What a node says about itself when it registers. */
function announced(m: Msg<"register">) {
  const { server_uuid, hostname, admin_ip, sysinfo, console_listen_port, console_tls_spki_sha256_hex } = m;
  const macs = macsOf(sysinfo);
  return { server_uuid, hostname, admin_ip, sysinfo, macs, console_listen_port, console_tls_spki_sha256_hex };
}

function approvedFrom(s: On<"pending">, key: NewNodeKey, now: Date): On<"approved"> {
  return {
    ...s,
    state: "approved",
    approved_at: now,
    claim_code: null,
    claim_code_expires_at: null,
    bound_api_key_id: key.id,
    pending_credential: key.sealed,
    ticket_keys: key.sealed_tickets,
  };
}
