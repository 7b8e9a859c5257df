// INV-9 of enrolment claims: each belongs to a node that may have it, ends in time, and is counted.
import {
  CLAIMS_PER_NODE_MAX,
  CLAIMS_PER_SITE_MAX,
  CLAIMS_PER_SOURCE_MAX,
  UNPROVEN_NODES_MAX,
} from "../contract/limits.ts";
import { type Check, invariant } from "./check.ts";

/** A claim is deleted at its expiry, by a pass that comes within a minute. */
const EXPIRED_OVER_S = 60;

export const CLAIM_CHECKS: readonly Check[] = [
  invariant(
    "INV-9",
    "an enrolment claim is of a node that is there and not disabled",
    `
    select format('claim %s of node %s (%s)', k.id, k.server_uuid, coalesce(cn.state, 'gone')) as what
      from enrolment_claim k left join cn using (server_uuid) where cn.state is null or cn.state = 'disabled'`,
  ),
  invariant(
    "INV-9",
    "no enrolment claim is older than its expiry and a pass",
    `
    select format('claim %s of node %s expired at %s', id, server_uuid, expires_at) as what from enrolment_claim
     where expires_at + interval '${EXPIRED_OVER_S} seconds' < berth_now()`,
  ),
  invariant(
    "INV-9",
    "a pending node has an enrolment claim",
    `
    select format('node %s', server_uuid) as what from cn where state = 'pending' and claim_code is null
       and not exists (select from enrolment_claim k where k.server_uuid = cn.server_uuid)`,
  ),
  invariant(
    "INV-9",
    `a node has at most ${CLAIMS_PER_NODE_MAX} live enrolment claims`,
    `
    select format('node %s has %s', server_uuid, count(*)) as what from enrolment_claim
     where expires_at > berth_now() group by server_uuid having count(*) > ${CLAIMS_PER_NODE_MAX}`,
  ),
  invariant(
    "INV-9",
    "claims and unproven nodes are counted as they are",
    `
    select format('%s: %s are counted, %s are there', name, counted, there) as what
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
