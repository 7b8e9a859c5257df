// The effects of a node's commit on its enrolment claims and on the count of unproven nodes.
import { CLAIM_QUOTAS, UNPROVEN_NODES_MAX } from "../../src/contract/limits.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { effect, lock } from "../engine/effects.ts";
import type { Condition } from "../engine/types.ts";
import type { CnState } from "./state.ts";

/**
 * Ends all claims of a node, including claims that are newer than the loaded state of the node. Keeps the claim with
 * the id `except`.
 */
export function endClaims(server_uuid: string, except: string | null = null): readonly Condition[] {
  return [lock(lockKey("claims", server_uuid)), effect("end_claims", { server_uuid, except, ...CLAIM_QUOTAS })];
}

/** Removes the record from the count of unproven nodes. */
export function proven(s: CnState): readonly Condition[] {
  return s.unproven ? [effect("unproven_ended", { max: UNPROVEN_NODES_MAX })] : [];
}
