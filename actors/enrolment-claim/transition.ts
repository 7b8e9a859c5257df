// An enrolment claim exists from an anonymous registration until its approval, its expiry or a decision about its node.
// The claim itself does not change the node: the node's transition table decides about the message `claimed`
// (cn/transition.ts).
import { fault, NOT_FOUND } from "../../src/contract/fault.ts";
import {
  CLAIM_QUOTAS,
  CLAIMS_PER_NODE_MAX,
  CLAIMS_PER_SITE_MAX,
  CLAIMS_PER_SOURCE_MAX,
} from "../../src/contract/limits.ts";
import { formatClaimCode } from "../../src/lib/ids/claim-code.ts";
import { addMs, toRfc3339 } from "../../src/lib/text/instant.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { identified } from "../../src/lib/ids/registration-identity.ts";
import { audit, effect, go, guard, lock, otherwise, refuse, reply, take, withActor } from "../engine/effects.ts";
import { runTable, type Table } from "../engine/table.ts";
import type { Behavior, Condition, Out } from "../engine/types.ts";
import type { EnrolmentClaimMessage, Msg } from "./messages.ts";
import type { EnrolmentClaimState, RegistrationReply } from "./state.ts";

type Live = EnrolmentClaimState;

/** Internal refusal: another claim has the claim code. The route creates a new code and retries. */
export const CLAIM_CODE_TAKEN = fault("conflict", "the claim code is in use", { error_code: "ClaimCodeTaken" });
/** Internal refusal: the claim with this token has ended. The route creates a new claim. */
export const CLAIM_ENDED = fault("conflict", "the claim has ended");

/** The 429 for each limit. The route adds the time until the first of the counted claims expires. */
export const CLAIMS_FULL = {
  node: full(`this server_uuid has ${CLAIMS_PER_NODE_MAX} claims that wait for approval`),
  source: full(`this source address has ${CLAIMS_PER_SOURCE_MAX} claims that wait for approval`),
  site: full(`the site has ${CLAIMS_PER_SITE_MAX} claims that wait for approval`),
} as const;

function full(message: string) {
  return fault("too_many_requests", message, { error_code: "TooManyRequests" });
}

export const enrolmentClaimTable: Table<EnrolmentClaimState, EnrolmentClaimMessage> = {
  register: { absent: register, live: "the claim exists already" },
  renew: { absent: ended, live: renew },
  approve: { absent: "missing", live: approve },
  tick: { absent: "ignore", live: expire },
};

function register(_s: null, m: Msg<"register">, now: Date): Out<Live> {
  const { type: _type, claim_code_ttl_s, ...rest } = m;
  const description = identified(m);
  const next: Live = {
    ...rest,
    ...description,
    state: "live",
    expires_at: addMs(now, claim_code_ttl_s * 1_000),
    created_at: now,
  };
  const { server_uuid, source_bucket } = m;
  return go(
    next,
    claimsLock(server_uuid),
    guard("node_has_room_for_claim", { server_uuid, max: CLAIMS_PER_NODE_MAX }, CLAIMS_FULL.node),
    guard("claims_are_counted", { source_bucket, ...CLAIM_QUOTAS }, CLAIMS_FULL.site),
    take("claims", 1, CLAIMS_FULL.site),
    take(`claims-from:${source_bucket}`, 1, CLAIMS_FULL.source),
    withActor({ kind: "cn", id: server_uuid }, { type: "claimed", ...description }),
    registered(next),
    reply(claimReply(next)),
  );
}

/** Renews the claim: a registration with the claim's token gives it a new code and a new token. */
function renew(s: Live, m: Msg<"renew">, now: Date): Out<Live> {
  if (s.poll_token_sha256 !== m.proof_sha256 || s.server_uuid !== m.server_uuid || now >= s.expires_at) {
    return refuse(CLAIM_ENDED);
  }
  const { claim_code, registration_id, poll_token_sha256, source } = m;
  const next: Live = {
    ...s,
    ...identified(m),
    claim_code,
    registration_id,
    poll_token_sha256,
    source,
    expires_at: addMs(now, m.claim_code_ttl_s * 1_000),
  };
  return go(next, registered(next), reply(claimReply(next)));
}

function ended(): Out<Live> {
  return refuse(CLAIM_ENDED);
}

/** Unknown, expired and used codes get the same answer, so codes cannot be enumerated. */
function approve(s: Live, m: Msg<"approve">, now: Date): Out<Live> {
  if (s.claim_code !== m.claim_code || now >= s.expires_at) return refuse(NOT_FOUND);
  return go<Live>(null, slotFreed(s));
}

/**
 * Expires the claim. If it was the last claim of its node, the node gets `last_claim_ended` and stops waiting for
 * approval.
 */
function expire(s: Live, _m: Msg<"tick">, now: Date): Out<Live> {
  if (now < s.expires_at) return { out: "ignore" };
  const { id, server_uuid } = s;
  return go<Live>(
    null,
    claimsLock(server_uuid),
    guard("is_last_claim", { server_uuid, id }, CLAIM_ENDED),
    slotFreed(s),
    withActor({ kind: "cn", id: server_uuid }, { type: "last_claim_ended" }),
    otherwise(go<Live>(null, claimsLock(server_uuid), slotFreed(s))),
  );
}

/** The exclusive lock for adding a claim to a node and for reading all claims of the node. */
function claimsLock(server_uuid: string): Condition {
  return lock(lockKey("claims", server_uuid));
}

function slotFreed({ source_bucket }: Live): Condition {
  return effect("claim_ended", { source_bucket, ...CLAIM_QUOTAS });
}

function registered({ id, server_uuid, hostname, source }: Live) {
  return audit("agent_register", `Cn::"${server_uuid}"`, { server_uuid, hostname, claim_id: id, source });
}

/** The state in the reply is always `pending`, so the reply does not reveal the state of the node's record. */
export function claimReply(s: Live): RegistrationReply {
  return {
    server_uuid: s.server_uuid,
    state: "pending",
    claim_code: formatClaimCode(s.claim_code),
    claim_code_expires_at: toRfc3339(s.expires_at),
    registration_id: s.registration_id,
  };
}

export const enrolmentClaim: Behavior<EnrolmentClaimState, EnrolmentClaimMessage> = {
  kind: "enrolment-claim",
  table: "enrolment_claim",
  key: "id",
  step: (s, m, now) => runTable(enrolmentClaimTable, s, m, now),
  deadline: (s) => s.expires_at,
  view: claimReply,
  constraints: { enrolment_claim_code: CLAIM_CODE_TAKEN },
};
