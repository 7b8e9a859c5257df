// Checks conditions that need an operator although no invariant is broken. Examples are stuck operations, late jobs and
// messages, and silent nodes.
import { CN_LIVE_S } from "../contract/limits.ts";
import { WHOLE_POOL } from "../lib/node-doctor/pool-findings.ts";
import type { Check } from "./check.ts";

/** Background passes run once or twice a second. If work has been due for this long, no process does it. */
const OVERDUE = "interval '60 seconds'";
/** Nodes ask for jobs every few seconds. If a node leaves a job unclaimed for this long, its agent does not work. */
const UNCLAIMED = "interval '10 minutes'";
/**
 * A removed node does no jobs. Its jobs are kept, because the node must do them if it returns and is approved again.
 * For example, it must delete its copies of evacuated instances.
 */
const HAS_NODE = "exists (select from cn where server_uuid = target_cn)";
/** The fix for a node that does not do its jobs. */
const IDLE_NODE = "opsctl cn doctor <node>; for a node that will not return: opsctl cn disable, then opsctl cn remove";

export const CONDITIONS: readonly Check[] = [
  {
    id: "operations-stuck",
    title: "no operation is stuck",
    severity: "warn",
    query: `select format('operation %s (%s): %s', id, saga, stuck_reason) as what from saga where state = 'stuck'
             order by created_at`,
    fix: "fix the cause, then: opsctl operation abandon <id>   (retries the undo)",
  },
  {
    id: "operations-moving",
    title: "no operation is overdue",
    severity: "fail",
    query: `select format('operation %s (%s) in step %s was due at %s', id, saga, step, due_at) as what from saga
             where state in ('running', 'unwinding') and wake_at < (select berth_now()) - ${OVERDUE} order by wake_at`,
    fix:
      "see the log of the control plane: `background work failed`; if it says that the step is unknown, start the release that has this step",
  },
  {
    id: "tells-delivered",
    title: "messages between records are delivered",
    severity: "fail",
    query: `select format('%s to %s %s since %s', message->>'type', to_kind, to_id, created_at) as what from outbox
             where created_at < (select berth_now()) - ${OVERDUE} order by created_at`,
    fix: "see the log of the control plane: `background work failed: tells`",
  },
  {
    id: "setups-moving",
    title: "no setup deadline is overdue",
    severity: "fail",
    query: `select format('node %s (%s) was due at %s', server_uuid, state, wake_at) as what from cn
             where wake_at < (select berth_now()) - ${OVERDUE} order by wake_at`,
    fix: "see the log of the control plane: `background work failed: timers of cn`",
  },
  {
    id: "webhooks-following",
    title: "the events of projects are assigned to webhooks",
    severity: "fail",
    query: `select format('event %s of %s', e.seq, e.canonical::jsonb->>'ts') as what
              from webhook_cursor c, audit_event e
             where e.seq = c.seq + 1 and exists (select from webhook)
               and (e.canonical::jsonb->>'ts')::timestamptz < (select berth_now()) - ${OVERDUE}`,
    fix: "see the log of the control plane: `background work failed: webhooks`",
  },
  {
    id: "webhooks-sending",
    title: "the deliveries of webhooks are sent when they are due",
    severity: "fail",
    query: `select format('webhook %s of project %s was due at %s', w.id, w.project_id, q.due_at) as what
              from webhook_queue q join webhook w on w.id = q.webhook_id
             where w.enabled and q.due_at < (select berth_now()) - ${OVERDUE} order by q.due_at`,
    fix:
      "see the log of the control plane: `background work failed: webhooks`; if the log does not contain this, start more servers, because each sends to a limited number of webhooks at once",
  },
  {
    id: "jobs-taken",
    title: "nodes claim their waiting jobs",
    severity: "warn",
    query: `select format('job %s (%s) waits for node %s since %s', id, kind, target_cn, created_at) as what from job
             where state = 'pending' and created_at < (select berth_now()) - ${UNCLAIMED} and ${HAS_NODE} order by seq`,
    fix: IDLE_NODE,
  },
  {
    id: "jobs-renewed",
    title: "a job ends when its lease expires",
    severity: "fail",
    query:
      `select format('the lease of job %s (%s) of node %s expired at %s', id, kind, target_cn, lease_until) as what from job
             where state = 'in_progress' and wake_at < (select berth_now()) - ${OVERDUE} order by wake_at`,
    fix: "see the log of the control plane: `background work failed: timers of job`",
  },
  {
    id: "jobs-undone",
    title: "nodes undo their cancelled and expired jobs",
    severity: "warn",
    query:
      `select format('job %s (%s) of node %s ended at %s and is not undone', id, kind, target_cn, completed_at) as what
             from job where tombstone and completed_at < (select berth_now()) - ${UNCLAIMED} and ${HAS_NODE}
            order by completed_at`,
    fix: IDLE_NODE,
  },
  {
    id: "networks-applied",
    title: "no node reports that it failed to apply a network document",
    severity: "warn",
    query: `select format('node %s, VPC %s, generation %s: %s', server_uuid, vpc_id, generation, message) as what
             from vpc_realization where status = 'failed' order by server_uuid, vpc_id`,
    fix: "on the node: nodeagent network check; the agent tries again every second",
  },
  {
    id: "nodes-heard",
    title: "every approved node reports",
    severity: "warn",
    query: `select format('%s (%s), %s', c.hostname, c.server_uuid,
                          coalesce('last heartbeat ' || s.last_seen, 'no heartbeat yet')) as what
              from cn c left join cn_signal s using (server_uuid)
             where c.state = 'approved'
               and greatest(s.last_seen, c.approved_at) < (select berth_now()) - interval '${CN_LIVE_S} seconds'
             order by s.last_seen nulls first, c.server_uuid`,
    fix: "opsctl cn doctor <node>",
  },
  {
    id: "pools-whole",
    title: "no approved node reports a damaged pool",
    severity: "warn",
    // An agent may report any JSON. With the argument `silent`, a report of another form causes no error and counts as
    // a report without pools. The first condition is true for few nodes, and costs less than a list of the pools of
    // each node.
    query: `select format('%s (%s), pool %s: %s', c.hostname, c.server_uuid, pool->>'key',
                          coalesce(pool #>> '{value,health}', pool #>> '{value,status}')) as what
              from cn c join cn_signal s using (server_uuid),
                   jsonb_path_query(s.last_status, '$.pools.keyvalue()', silent => true) pool
             where s.last_status @? '$.pools.*.status ? (@ != "${WHOLE_POOL}")'
               and c.state = 'approved' and pool #>> '{value,status}' <> '${WHOLE_POOL}'
             order by c.hostname, c.server_uuid`,
    fix: "opsctl cn doctor <node>",
  },
  {
    id: "processors-enough",
    title: "no instance has more vCPUs than its node has logical processors",
    severity: "warn",
    // `materialized`: each report is read once, and not for each instance of its node.
    query: `with node as materialized (
              select server_uuid, (report->>'cpu_threads_logical')::double precision as threads from cn_capacity)
            select format('instance %s (%s) has %s vCPUs, its node %s has %s', i.name, i.id, i.cpu, i.host_cn_uuid,
                          n.threads) as what
              from node n join instance i on i.host_cn_uuid = n.server_uuid
             where i.cpu > n.threads order by i.name, i.id`,
    fix:
      "stop the instance and give it fewer vCPUs; until then, a drain or an evacuation moves it only to a node with enough processors",
  },
  {
    id: "audit-chained",
    title: "audited changes are in the audit chain within a minute",
    severity: "warn",
    query: `select format('%s of %s %s at %s', t.event, t.actor_kind, t.actor_id, t.at) as what
              from transition t
             where t.audit is not null and t.at < (select berth_now()) - ${OVERDUE}
               and (t.xid, t.id) > ((select last_xid from audit_head), (select last_id from audit_head))
               and not exists (select from audit_event e where e.transition_id = t.id) order by t.xid, t.id`,
    fix: "look in pg_stat_activity for a long write transaction in any database: it delays the audit chain",
  },
  {
    id: "secret-outside",
    title: "the server's secret is not in the database that it protects",
    severity: "warn",
    query:
      `select format('the secret has been in the table server_secret since %s', created_at) as what from server_secret`,
    fix: "set BERTH_SECRET_KEY; the log of every start says what to do with the secret in the database",
  },
  {
    id: "clock-real",
    title: "the clock is not shifted as in a dev environment",
    severity: "warn",
    query: `select format('the system''s clock is %s ahead of the database''s', ahead) as what from lab_clock
             where ahead <> '0'`,
    fix: "run production without BERTH_LAB, on a database of its own",
  },
];
