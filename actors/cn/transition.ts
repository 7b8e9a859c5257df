// Document 2, CN state. Rows are messages, columns are states; document 4, 1.3 to 1.5, has the details.
import { fault } from "../../src/contract/fault.ts";
import { NOT_FOUND } from "../../src/contract/fault.ts";
import { addMs } from "../../src/pure/instant.ts";
import { audit, go, guard, lock, otherwise, refuse, remove, reply, take, upsert, withActor } from "../engine/decide.ts";
import { planted } from "../engine/planted.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out, Part } from "../engine/types.ts";
import type { CnMessage, NewNodeKey } from "./messages.ts";
import type { CnState } from "./state.ts";
import { cnView, registrationReply, reservoirView } from "./view.ts";

type On<S extends CnState["state"]> = At<CnState, S>;
type Msg<T extends CnMessage["type"]> = Of<CnMessage, T>;

/** The budget row that the auto-approve window keeps. */
export const AUTO_APPROVE_BUDGET = "auto-approve";

const NOT_DISABLED = "cn is <STATE>; only an approved or pending node can be disabled";
const SETTING_UP = "cn is <STATE>; wait for setup to finish or fail before removing";

export const cnTable: Table<CnState, CnMessage> = {
  register: {
    absent: join,
    pending: renew,
    approved: refresh,
    disabled: rejoin,
    awaiting_setup: refresh,
    setting_up: refresh,
  },
  approve: {
    absent: "missing",
    pending: approve,
    approved: "missing",
    disabled: "missing",
    awaiting_setup: "missing",
    setting_up: "missing",
  },
  key_used: {
    absent: "ignore",
    pending: "ignore",
    approved: eraseCredential,
    disabled: eraseCredential,
    awaiting_setup: "ignore",
    setting_up: eraseCredential,
  },
  disable: {
    absent: "missing",
    pending: disable,
    approved: disable,
    disabled: disable,
    awaiting_setup: NOT_DISABLED,
    setting_up: NOT_DISABLED,
  },
  set_role: {
    absent: "missing",
    pending: setRole,
    approved: setRole,
    disabled: setRole,
    awaiting_setup: setRole,
    setting_up: setRole,
  },
  set_reservoir: {
    absent: "missing",
    pending: setReservoir,
    approved: setReservoir,
    disabled: setReservoir,
    awaiting_setup: setReservoir,
    setting_up: setReservoir,
  },
  remove: {
    // Removing twice succeeds twice.
    absent: "ignore",
    pending: removeNode,
    approved: "cn is approved; disable it before removing",
    disabled: removeNode,
    awaiting_setup: removeNode,
    setting_up: SETTING_UP,
  },
  tick: {
    absent: "ignore",
    pending: "ignore",
    approved: "ignore",
    disabled: "ignore",
    awaiting_setup: "ignore",
    setting_up: "ignore",
  },
};

/** A new node: approved at once when an auto-approve window has room, otherwise pending with a claim code. */
function join(_s: null, m: Msg<"register">, now: Date): Out<CnState> {
  const pending = pendingFrom(
    {
      role: "tenant",
      registered_at: now,
      last_setup_error: null,
      setup_progress: null,
      disk_layout: null,
      last_seen: null,
      last_status: null,
      reservoir_enabled: null,
      reservoir_percent: null,
    },
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

function renew(s: On<"pending">, m: Msg<"register">, now: Date): Out<CnState> {
  return registered(pendingFrom(s, m, now), m);
}

/** A disabled node that registers afresh starts over: its old key goes, since nothing refers to it any more. */
function rejoin(s: On<"disabled">, m: Msg<"register">, now: Date): Out<CnState> {
  const next = pendingFrom({ ...s, last_status: null }, m, now);
  const key = planted("rejoin_keeps_key") ? null : s.bound_api_key_id;
  const dropped: Part<CnState>[] = key === null ? [] : [dropKey(key)];
  return registered(next, m, remove("cn_signal", { server_uuid: s.server_uuid }), ...dropped);
}

function registered(next: On<"pending">, m: Msg<"register">, ...parts: readonly Part<CnState>[]): Out<CnState> {
  const note = { server_uuid: m.server_uuid, hostname: m.hostname };
  return go(next, audit("agent_register", resource(m), note), reply(registrationReply(next)), ...parts);
}

/** A node that is known keeps its state, its token and its key; only what it says about itself is new. */
function refresh(
  s: On<"approved"> | On<"awaiting_setup"> | On<"setting_up">,
  m: Msg<"register">,
  now: Date,
): Out<CnState> {
  const token = s.poll_token_sha256 === null
    ? { registration_id: m.registration_id, poll_token_sha256: m.poll_token_sha256 }
    : {};
  const next = { ...s, ...announced(m), ...token, last_seen: now };
  const note = { server_uuid: m.server_uuid, hostname: m.hostname };
  return go(
    next,
    upsert("cn_signal", ["server_uuid"], {
      server_uuid: s.server_uuid,
      last_seen: now,
      last_status: s.last_status ?? null,
    }),
    audit("agent_register", resource(m), note),
    reply(registrationReply(next)),
  );
}

function approve(s: On<"pending">, m: Msg<"approve">, now: Date): Out<CnState> {
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

function eraseCredential(
  s: On<"approved"> | On<"disabled"> | On<"setting_up">,
  m: Msg<"key_used">,
): Out<CnState> {
  if (s.bound_api_key_id !== m.key_id || s.pending_credential === null) return { out: "ignore" };
  return go(planted("credential_not_erased") ? s : { ...s, pending_credential: null });
}

/** The bound key is not revoked (document 2, Authentication): what it may still do is a row of the policy table. */
function disable(s: On<"pending"> | On<"approved"> | On<"disabled">): Out<CnState> {
  const next = { ...s, state: "disabled", claim_code: null, claim_code_expires_at: null, pending_credential: null };
  return go(
    (planted("disable_keeps_code") ? { ...next, claim_code: s.claim_code } : next) as On<"disabled">,
    audit("cn_disable", resource(s), { server_uuid: s.server_uuid, bound_api_key_id: s.bound_api_key_id }),
  );
}

function setRole(s: CnState, m: Msg<"set_role">): Out<CnState> {
  return go({ ...s, role: m.role }, audit("cn_set_role", resource(s), { server_uuid: s.server_uuid, role: m.role }));
}

function setReservoir(s: CnState, m: Msg<"set_reservoir">): Out<CnState> {
  const override = { reservoir_enabled: m.reservoir_enabled, reservoir_percent: m.reservoir_percent };
  const next = { ...s, ...override };
  return go(
    next,
    upsert("cn_placement", ["server_uuid"], { server_uuid: s.server_uuid, ...override }),
    audit("cn_set_reservoir", resource(s), { server_uuid: s.server_uuid, ...override }),
    reply(reservoirView(next, m.defaults)),
  );
}

function removeNode(s: On<"pending"> | On<"disabled"> | On<"awaiting_setup">): Out<CnState> {
  const { server_uuid } = s;
  const key = planted("remove_keeps_key") ? null : s.bound_api_key_id;
  const dropped: Part<CnState>[] = key === null ? [] : [dropKey(key)];
  return go<CnState>(
    null,
    lock(`cn:${server_uuid}`),
    guard(
      "no_instance_on_cn",
      { server_uuid },
      "instances are still placed on this node; delete or migrate them first",
    ),
    guard("no_reservation_on_cn", { server_uuid }, "a placement reservation is in flight for this node"),
    guard(
      "no_migration_of_cn",
      { server_uuid },
      "a migration involving this node is in flight; wait for it to finish or abort it",
    ),
    ...dropped,
    remove("cn_signal", { server_uuid }),
    remove("cn_capacity", { server_uuid }),
    remove("cn_placement", { server_uuid }),
    remove("placement_reservation", { server_uuid }),
    audit("cn_remove", resource(s), { server_uuid, hostname: s.hostname }),
  );
}

// ------------------------------------------------------------------------------------------------ shared by the cells

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
  return { server_uuid, hostname, admin_ip, sysinfo, console_listen_port, console_tls_spki_sha256_hex };
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

/** Document 4, 1.4: scope agent, bound to the node, owned by the approving user. */
function bindKey(server_uuid: string, key: NewNodeKey) {
  const { id, lookup, secret_sha256, user_id } = key;
  return withActor({ kind: "api-key", id }, {
    type: "create",
    id,
    lookup,
    secret_sha256,
    user_id,
    description: `agent: cn ${server_uuid}`,
    scope: "agent",
    bound_to_cn: server_uuid,
    expires_at: null,
  });
}

function dropKey(id: string) {
  return withActor({ kind: "api-key", id }, { type: "revoke" });
}

function startNodeJoin(s: On<"approved">, operation_id: string) {
  return withActor({ kind: "saga", id: operation_id }, {
    type: "start",
    id: operation_id,
    saga: "node-join",
    params: { server_uuid: s.server_uuid, hostname: s.hostname },
    references: [{ scope: "cn", id: s.server_uuid }],
  });
}

function resource(of: { readonly server_uuid: string }): string {
  return `Cn::"${of.server_uuid}"`;
}

/** The claim code of another node: the route mints a new one and sends again. */
export const CLAIM_CODE_TAKEN = fault("conflict", "the claim code is in use", { error_code: "ClaimCodeTaken" });

export const cn: Behavior<CnState, CnMessage> = {
  kind: "cn",
  table: "cn",
  key: "server_uuid",
  from: "cn_loaded",
  step: (s, m, now) => runTable(cnTable, s, m, now),
  deadline: () => null,
  view: cnView,
  constraints: { cn_claim_code: CLAIM_CODE_TAKEN },
};
