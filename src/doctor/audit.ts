// INV-17: the audit chain has one event for each audited transition. Events are appended in the order of the transition
// log: every audited transition up to the chain's saved position has its event. A later transition may not have its
// event yet. After a restore into another database server, the position is the start of the log until the whole log is
// chained.
import { type Check, invariant } from "./check.ts";

export const AUDIT_CHECKS: readonly Check[] = [
  invariant(
    "INV-17",
    "each audited transition before the chain's saved position has an audit event",
    `
    select format('%s of %s %s (transition %s)', t.event, t.actor_kind, t.actor_id, t.id) as what
      from transition t, audit_head h
     where t.audit is not null and (t.xid, t.id) <= (h.last_xid, h.last_id)
       and h.last_xid < pg_snapshot_xmax(pg_current_snapshot())
       and not exists (select from audit_event e where e.transition_id = t.id)`,
  ),
  invariant(
    "INV-17",
    "each audit event belongs to an audited transition",
    `
    select format('event %s (transition %s)', e.seq, e.transition_id) as what from audit_event e
     where not exists (select from transition t where t.id = e.transition_id and t.audit is not null)`,
  ),
  invariant(
    "INV-17",
    "the audit events are numbered from 0 to the head without a gap",
    `
    select format('%s events up to %s, the head is at %s', count(e.seq), max(e.seq), h.seq) as what
      from audit_head h left join audit_event e on true group by h.seq
    having count(e.seq) <> h.seq + 1 or coalesce(max(e.seq), -1) <> h.seq`,
  ),
  invariant(
    "INV-17",
    "the head of the audit chain has the hash of the last event",
    `
    select format('event %s', h.seq) as what from audit_head h left join audit_event e on e.seq = h.seq
     where h.seq >= 0 and e.hash is distinct from h.hash`,
  ),
];
