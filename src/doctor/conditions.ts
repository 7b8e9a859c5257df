// What an operator wants to know of a running system beside its promises: what is stuck, late, silent or about to hurt.
import { CN_LIVE_S } from "../contract/limits.ts";
import type { Check } from "./check.ts";

/** Passes of the background work come twice a second; what is due for so long has nobody who does it. */
const OVERDUE = "interval '60 seconds'";
/** A node looks for work every few seconds. */
const UNCLAIMED = "interval '10 minutes'";

export const CONDITIONS: readonly Check[] = [
  {
    id: "operations-stuck",
    title: "no operation is stuck",
    severity: "warn",
    query: `select format('operation %s (%s): %s', id, saga, stuck_reason) as what from saga where state = 'stuck'
             order by created_at`,
    mend: "mend the cause, then: opsctl operation abandon <id>   (tries the undo again)",
  },
  {
    id: "operations-moving",
    title: "every operation that is due is moved on",
    severity: "fail",
    query: `select format('operation %s (%s) in step %s was due at %s', id, saga, step, due_at) as what from saga
             where state in ('running', 'unwinding') and wake_at < berth_now() - ${OVERDUE} order by wake_at`,
    mend: "look at the log of the control plane: `background work failed`; a step that no build knows needs its build",
  },
  {
    id: "tells-delivered",
    title: "what one record tells another arrives",
    severity: "fail",
    query: `select format('%s to %s %s since %s', message->>'type', to_kind, to_id, created_at) as what from outbox
             where created_at < berth_now() - ${OVERDUE} order by created_at`,
    mend: "look at the log of the control plane: `background work failed: tells`",
  },
  {
    id: "setups-moving",
    title: "every setup whose time is up is taken back",
    severity: "fail",
    query: `select format('node %s (%s) was due at %s', server_uuid, state, wake_at) as what from cn
             where wake_at < berth_now() - ${OVERDUE} order by wake_at`,
    mend: "look at the log of the control plane: `background work failed: timers of cn`",
  },
  {
    id: "jobs-taken",
    title: "nodes take the jobs that wait for them",
    severity: "warn",
    query: `select format('job %s (%s) waits for node %s since %s', id, kind, target_cn, created_at) as what from job
             where state = 'pending' and created_at < berth_now() - ${UNCLAIMED} order by seq`,
    mend: "opsctl cn doctor <node>",
  },
  {
    id: "jobs-renewed",
    title: "a job that its node no longer renews is ended",
    severity: "fail",
    query: `select format('job %s (%s) of node %s ran out at %s', id, kind, target_cn, lease_until) as what from job
             where state = 'in_progress' and wake_at < berth_now() - ${OVERDUE} order by wake_at`,
    mend: "look at the log of the control plane: `background work failed: timers of job`",
  },
  {
    id: "jobs-undone",
    title: "nodes undo what was taken from them",
    severity: "warn",
    query:
      `select format('job %s (%s) was taken from node %s at %s', id, kind, target_cn, completed_at) as what from job
             where tombstone and completed_at < berth_now() - ${UNCLAIMED} order by completed_at`,
    mend: "opsctl cn doctor <node>; a node that is gone for good: opsctl cn disable, then opsctl cn remove",
  },
  {
    id: "nodes-heard",
    title: "every approved node is heard of",
    severity: "warn",
    query: `select format('%s (%s), %s', c.hostname, c.server_uuid,
                          coalesce('last heard ' || s.last_seen, 'never heard')) as what
              from cn c left join cn_signal s using (server_uuid)
             where c.state = 'approved'
               and greatest(s.last_seen, c.approved_at) < berth_now() - interval '${CN_LIVE_S} seconds'
             order by s.last_seen nulls first, c.server_uuid`,
    mend: "opsctl cn doctor <node>",
  },
  {
    id: "audit-chained",
    title: "what is audited is chained within a minute",
    severity: "warn",
    query: `select format('%s of %s %s at %s', t.event, t.actor_kind, t.actor_id, t.at) as what
              from transition t, audit_head h
             where t.audit is not null and t.at < berth_now() - ${OVERDUE} and (t.xid, t.id) > (h.last_xid, h.last_id)
               and not exists (select from audit_event e where e.transition_id = t.id) order by t.xid, t.id`,
    mend: "a long write transaction in any database of the PostgreSQL server holds it back: look at pg_stat_activity",
  },
  {
    id: "secret-outside",
    title: "the server's secret is not in the database that it protects",
    severity: "warn",
    query: `select format('the secret is in the table server_secret since %s', created_at) as what from server_secret`,
    mend: "set BERTH_SECRET_KEY; what to do with the one in the database is said in the log at every start",
  },
  {
    id: "clock-real",
    title: "the clock is not that of a laboratory",
    severity: "warn",
    query:
      `select format('the database''s clock is taken to be %s ahead', ahead) as what from lab_clock where ahead <> '0'`,
    mend: "run production without BERTH_LAB, on a database of its own",
  },
];
