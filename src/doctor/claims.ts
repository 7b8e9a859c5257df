// Checks INV-9 for enrolment claims. Each claim belongs to a node that may have a claim. Each claim is deleted soon
// after its expiry. The counters that limit the number of claims count each claim.
import {
  CLAIMS_PER_NODE_MAX,
  CLAIMS_PER_SITE_MAX,
  CLAIMS_PER_SOURCE_MAX,
  UNPROVEN_NODES_MAX,
} from "../contract/limits.ts";
import { type Check, invariant } from "./check.ts";

/** Background passes delete a claim within this time after its expiry. */
const EXPIRED_OVER_S = 60;

export const CLAIM_CHECKS: readonly Check[] = [
  invariant(
    "INV-9",
    "each enrolment claim belongs to an existing node that is not disabled",
    `
    select format('claim %s of node %s (%s)', k.id, k.server_uuid, coalesce(cn.state, 'gone')) as what
      from enrolment_claim k left join cn using (server_uuid) where cn.state is null or cn.state = 'disabled'`,
  ),
  invariant(
    "INV-9",
    `no enrolment claim exists more than ${EXPIRED_OVER_S} s after its expiry`,
    `
    select format('claim %s of node %s expired at %s', id, server_uuid, expires_at) as what from enrolment_claim
     where expires_at + interval '${EXPIRED_OVER_S} seconds' < (select berth_now())`,
  ),
  invariant(
    "INV-9",
    "a pending node has an enrolment claim or a claim code",
    `
    select format('node %s', server_uuid) as what from cn where state = 'pending' and claim_code is null
       and not exists (select from enrolment_claim k where k.server_uuid = cn.server_uuid)`,
  ),
  invariant(
    "INV-9",
    `a node has at most ${CLAIMS_PER_NODE_MAX} live enrolment claims`,
    `
    select format('node %s has %s', server_uuid, count(*)) as what from enrolment_claim
     where expires_at > (select berth_now()) group by server_uuid having count(*) > ${CLAIMS_PER_NODE_MAX}`,
  ),
  invariant(
    "INV-9",
    "the counters of claims and unproven nodes are correct",
    `
    select format('%s: %s counted, %s exist', name, counted, there) as what
      from (select b.name, case when b.name = 'claims' then ${CLAIMS_PER_SITE_MAX}
                                when b.name = 'unproven-nodes' then ${UNPROVEN_NODES_MAX}
                                else ${CLAIMS_PER_SOURCE_MAX} end - b.remaining as counted,
                   case when b.name = 'claims' then (select count(*) from enrolment_claim)
                        when b.name = 'unproven-nodes' then (select count(*) from cn where unproven)
                        else (select count(*) from enrolment_claim k where b.name = 'claims-from:' || k.source_bucket)
                   end as there
              from budget b where b.name in ('claims', 'unproven-nodes') or b.name like 'claims-from:%') n
     where counted <> there`,
  ),
];
