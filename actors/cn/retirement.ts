// How a node leaves: disabled, reset to bare, or removed. Document 2, Factory reset and Remove.
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { audit, go, guard, lock, withActor } from "../engine/effects.ts";
import type { Out, Part } from "../engine/types.ts";
import { endClaims, proven } from "./claims.ts";
import { dropKey } from "./credential.ts";
import type { Msg } from "./messages.ts";
import { satellitesOf } from "./registration.ts";
import { type CnState, NO_CODE, type On, resource } from "./state.ts";

/** Its claims end. The bound key is not revoked (document 2, Authentication): what it may still do is a row of the policy table. */
export function disable(s: On<"pending"> | On<"approved"> | On<"disabled">): Out<CnState> {
  // The agent that waited last hears that its node is disabled, which a claim that ended could not say.
  const heard = s.poll_token_sha256 === null ? s.claims.at(-1) : undefined;
  const { registration_id, poll_token_sha256 } = heard ?? s;
  const token = { registration_id, poll_token_sha256 };
  const next: On<"disabled"> = {
    ...s,
    ...NO_CODE,
    ...token,
    state: "disabled",
    unproven: false,
    claims: [],
    pending_credential: null,
  };
  return go(
    next,
    ...endClaims(s.server_uuid),
    ...proven(s),
    audit("cn_disable", resource(s), { server_uuid: s.server_uuid, bound_api_key_id: s.bound_api_key_id }),
  );
}

/** A node that is disabled, or was and waits for approval again, stays without a key until a claim of it is approved. */
export function forgetKey(s: On<"pending"> | On<"disabled">, { key_id }: Msg<"key_deleted">): Out<CnState> {
  if (s.bound_api_key_id !== key_id) return { out: "ignore" };
  return go({ ...s, bound_api_key_id: null, pending_credential: null, ticket_keys: null });
}

/**
 * The record is as if it had just been announced; the machine runs on until it boots again. Kept: identity, hardware,
 * the root password hash, what operators set. Its boot records may enrol again.
 */
export function factoryReset(s: On<"approved"> | On<"disabled">): Out<CnState> {
  const { server_uuid } = s;
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
    last_setup_error: "factory reset by operator",
  };
  return go(
    next,
    ...nothingStandsOn(server_uuid),
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

/** The record and what hangs on it go; audit entries and migration records stay. The node is not contacted. */
export function removeNode(s: On<"pending"> | On<"disabled"> | On<"awaiting_setup">): Out<CnState> {
  const { server_uuid } = s;
  // What only a stranger says of its ports decides about no boot record.
  const macs = new Set([...s.bound_macs, ...(s.unproven ? s.announced_macs : s.macs)]);
  return go<CnState>(
    null,
    ...nothingStandsOn(server_uuid),
    ...dropped(s),
    ...[...macs].map((mac) => withActor({ kind: "boot-record", id: mac }, { type: "retire", server_uuid })),
    ...endClaims(server_uuid),
    ...proven(s),
    ...satellitesOf(server_uuid),
    audit("cn_remove", resource(s), { server_uuid, hostname: s.hostname }),
  );
}

/** Document 2, Common guards. Whoever places something on the node holds the same lock. */
function nothingStandsOn(server_uuid: string): readonly Part<CnState>[] {
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
