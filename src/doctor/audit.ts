// Checks INV-17: the audit chain has one event for each audited transition. Events are appended in the order of the
// transition log. Therefore every audited transition up to the chain's saved position has its event, and a later
// transition may not have its event yet. The position contains a transaction id of the database server, so it has no
// meaning after a restore into another server. Then the first check reports nothing until all restored transitions are
// in the chain and the position is set again.
import { DOCTOR_LOG_ROWS } from "../contract/limits.ts";
import { type Check, invariant } from "./check.ts";
import { logIn, type Scope } from "./scope.ts";

const eventsIn = (scope: Scope) =>
  scope === "all" ? "audit_event" : `(select * from audit_event order by seq desc limit ${DOCTOR_LOG_ROWS})`;

export const auditChecks = (scope: Scope): readonly Check[] => [
  invariant(
    "INV-17",
    "each audited transition before the chain's saved position has an audit event",
    `
    select format('%s of %s %s (transition %s)', t.event, t.actor_kind, t.actor_id, t.id) as what
      from ${logIn(scope)} t, audit_head h
     where t.audit is not null and (t.xid, t.id) <= (h.last_xid, h.last_id)
       and h.last_xid < pg_snapshot_xmax(pg_current_snapshot())
       and not exists (select from audit_event e where e.transition_id = t.id)`,
  ),
  invariant(
    "INV-17",
    "each audit event belongs to an audited transition",
    `
    select format('event %s (transition %s)', e.seq, e.transition_id) as what from ${eventsIn(scope)} e
     where not exists (select from transition t where t.id = e.transition_id and t.audit is not null)`,
  ),
  invariant(
    "INV-17",
    "the audit events are numbered without a gap, from 0 or the end of the archive to the head",
    `
    select format('%s events from %s to %s; the archive ends at %s, the head is at %s', present, first, last,
                  archived, head) as what
      from (select count(*) as present, min(seq) as first, max(seq) as last from ${eventsIn(scope)} e) e,
           (select seq as head from audit_head) h,
           (select coalesce(max(last_seq), -1) as archived from audit_segment) a
     where coalesce(last, archived) <> head or present <> last - first + 1
        or first <> ${scope === "all" ? "archived + 1" : `greatest(archived + 1, head - ${DOCTOR_LOG_ROWS} + 1)`}`,
  ),
  invariant(
    "INV-17",
    "the head of the audit chain has the hash of the last event",
    `
    select format('event %s', h.seq) as what from audit_head h left join audit_event e on e.seq = h.seq
     where h.seq >= 0 and e.hash is distinct from h.hash`,
  ),
  invariant(
    "INV-17",
    "the segments of the audit archive are numbered without a gap, and each continues the previous segment",
    `
    select format('segment %s: events %s to %s', number, first_seq, last_seq) as what
      from (select *, lag(last_seq, 1, -1) over before as before_seq,
                   lag(last_hash, 1, repeat('0', 64)) over before as before_hash, row_number() over before as place
              from audit_segment window before as (order by number)) s
     where number <> place - 1 or first_seq <> before_seq + 1 or prev_hash <> before_hash`,
  ),
];
