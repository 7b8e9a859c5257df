// Disables, enables, resets and removes nodes (docs/nodes.md, "Leaving").
import { conflict, type Fault } from "../../src/contract/fault.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { audit, go, guard, lock, refuse, withActor } from "../engine/effects.ts";
import type { Out, Part } from "../engine/types.ts";
import { endClaims, proven } from "./claims.ts";
import { dropKey } from "./credential.ts";
import type { Confirmed, Msg } from "./messages.ts";
import { satellitesOf } from "./registration.ts";
import { type CnState, NO_CODE, type On, resource } from "./state.ts";

/**
 * Disables the node and ends its claims. The key stays valid, so the node can still send reports and finish its jobs.
 */
export function disable(s: On<"pending"> | On<"approved"> | On<"disabled">): Out<CnState> {
  // If no agent is registered, the newest claim's token stays valid. So the agent that sent the claim learns that the
  // node is disabled.
  const newest = s.poll_token_sha256 === null ? s.claims.at(-1) : undefined;
  const { registration_id, poll_token_sha256 } = newest ?? s;
  const token = { registration_id, poll_token_sha256 };
  const next: On<"disabled"> = {
    ...s,
    ...NO_CODE,
    ...token,
    state: "disabled",
    unproven: false,
    claims: [],
    pending_credential: null,
    setup_delivery: null,
  };
  return go(
    next,
    ...endClaims(s.server_uuid),
    ...proven(s),
    audit("cn_disable", resource(s), { server_uuid: s.server_uuid, bound_api_key_id: s.bound_api_key_id }),
  );
}

/** Returns a disabled node to service with the key that it has. A repeated enable succeeds. */
export function enable(s: On<"approved"> | On<"disabled">, _m: Msg<"enable">, now: Date): Out<CnState> {
  const { bound_api_key_id } = s;
  if (bound_api_key_id === null) return refuse(NO_KEY);
  return go<CnState>(
    { ...s, bound_api_key_id, state: "approved", approved_at: s.approved_at ?? now },
    audit("cn_enable", resource(s), { server_uuid: s.server_uuid, bound_api_key_id }),
  );
}

const NO_KEY = conflict(
  "the node has no API key; restart its node agent and approve the new claim code (opsctl cn approve)",
);

/** Removes the reference to a deleted key. The node has no key until one of its claims is approved. */
export function forgetKey(s: On<"pending"> | On<"disabled">, { key_id }: Msg<"key_deleted">): Out<CnState> {
  if (s.bound_api_key_id !== key_id) return { out: "ignore" };
  return go({ ...s, bound_api_key_id: null, pending_credential: null, ticket_keys: null });
}

/**
 * Resets the record to the state awaiting_setup, as after the machine's first announcement. The machine keeps running
 * until its next boot. Identity, hardware, root password hash and operators' settings stay. The node's boot records
 * permit enrolment again.
 */
export function factoryReset(s: On<"approved"> | On<"disabled">, m: Confirmed): Out<CnState> {
  const { server_uuid } = s;
  const wrong = wrongName(m, s);
  if (wrong !== null) return refuse(wrong);
  const next: On<"awaiting_setup"> = {
    ...s,
    state: "awaiting_setup",
    approved_at: null,
    bound_api_key_id: null,
    pending_credential: null,
    ticket_keys: null,
    disk_layout: null,
    setup_progress: null,
    setup_epoch: null,
    setup_operation_id: null,
    bundle_taken: false,
    setup_delivery: null,
    last_setup_error: "factory reset by operator",
  };
  return go(
    next,
    ...nothingPlacedOn(server_uuid),
    guard(
      "enrollment_pi_is_staged",
      {},
      "no valid enrollment PI is configured in the boot policy; the reset node could not netboot back into enrollment",
    ),
    ...dropped(s),
    ...s.bound_macs.map((mac) => withActor({ kind: "boot-record", id: mac }, { type: "rearm", server_uuid })),
    audit("cn_factory_reset", resource(s), { server_uuid, hostname: s.hostname }),
  );
}

/**
 * Removes the record and the rows that belong to it; audit entries and migration records stay. The node is not
 * contacted.
 */
export function removeNode(
  s: On<"pending"> | On<"disabled"> | On<"awaiting_setup">,
  m: Confirmed,
): Out<CnState> {
  const { server_uuid } = s;
  const wrong = wrongName(m, s);
  if (wrong !== null) return refuse(wrong);
  // The MAC addresses in an unauthenticated registration are unproven, so they must not affect boot records.
  const macs = new Set([...s.bound_macs, ...(s.unproven ? s.announced_macs : s.macs)]);
  return go<CnState>(
    null,
    ...nothingPlacedOn(server_uuid),
    ...dropped(s),
    ...[...macs].map((mac) => withActor({ kind: "boot-record", id: mac }, { type: "retire", server_uuid })),
    ...endClaims(server_uuid),
    ...proven(s),
    ...satellitesOf(server_uuid),
    audit("cn_remove", resource(s), { server_uuid, hostname: s.hostname }),
  );
}

/** Returns the refusal if the confirmation names another node, or null. */
function wrongName({ confirm }: Confirmed, { hostname }: { readonly hostname: string }): Fault | null {
  return confirm === undefined || confirm === hostname
    ? null
    : conflict(`confirm: ${confirm} is not the hostname of the node, ${hostname}`);
}

/** Checks that nothing is placed on the node. Placements take the same lock. */
function nothingPlacedOn(server_uuid: string): readonly Part<CnState>[] {
  const args = { server_uuid };
  return [
    lock(lockKey("cn", server_uuid)),
    guard("no_instance_on_cn", args, "instances are still placed on this node; delete or migrate them first"),
    guard("no_reservation_on_cn", args, "a placement reservation is in flight for this node"),
    guard(
      "no_migration_of_cn",
      args,
      "a migration involving this node is in flight; wait for it to finish or abort it",
    ),
  ];
}

function dropped(s: CnState): readonly Part<CnState>[] {
  return s.bound_api_key_id === null ? [] : [dropKey(s.bound_api_key_id)];
}
