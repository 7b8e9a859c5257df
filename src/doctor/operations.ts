// Checks INV-10 and INV-12, which are about operations and their jobs on nodes. An actor may wait for a message that is
// still in the outbox: this is no violation.
import { type Check, invariant } from "./check.ts";
import { logIn, recordsIn, type Scope, widerLogIn } from "./scope.ts";

const NOT_ON_ITS_WAY = (kind: string, id: string) =>
  `not exists (select from outbox o where o.to_kind = '${kind}' and o.to_id = ${id}::text)`;

/** A pattern of the ids in payloads. A value of another form is the id of no instance. */
const UUID = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$";
const SAGAS = { kind: "saga", table: "saga", key: "id" };
const JOBS = { kind: "job", table: "job", key: "id" };

export const operationChecks = (scope: Scope): readonly Check[] => [
  invariant(
    "INV-10",
    "an operation's state, step and end agree",
    `
    select format('operation %s (%s) is %s', id, saga, state) as what from ${recordsIn(scope, SAGAS)} s
     where (state in ('succeeded', 'unwound')) <> (done_at is not null)
        or (state = 'stuck') <> (stuck_reason is not null)
        or (state in ('running', 'unwinding')) <> (due_at is not null and step is not null)`,
  ),
  invariant(
    "INV-10",
    "an operation waits for an ended job only while the job's message is being delivered",
    `
    select format('operation %s (%s) waits in step %s for job %s, which is %s', s.id, s.saga, s.step, j.id,
                  j.state) as what
      from saga s join job j on j.id = s.job_id
     where s.state in ('running', 'unwinding') and j.state in ('completed', 'failed')
       and ${NOT_ON_ITS_WAY("saga", "s.id")}`,
  ),
  invariant(
    "INV-10",
    "each approval of a registration has one operation",
    `
    select format('node %s, message %s', t.actor_id, t.msg_id) as what
      from log_retention, ${logIn(scope)} t
      left join (select msg_id, count(*) as begun from ${widerLogIn(scope)} l
                  where actor_kind = 'saga' and event = 'start' group by msg_id) s using (msg_id)
     where t.at >= coalesce(log_retention.dropped_before, '-infinity') and t.actor_kind = 'cn' and t.to_state = 'approved'
       and (t.event in ('approve', 'join') or (t.event = 'register' and t.from_state <> 'approved')) and coalesce(s.begun, 0) <> 1`,
  ),
  invariant(
    "INV-12",
    "a claimed job was claimed by its target node",
    `
    select format('job %s (%s, %s) of node %s is with %s', id, kind, state, target_cn, claimed_by) as what
      from ${recordsIn(scope, JOBS)} j
     where case when state in ('in_progress', 'completed') then claimed_by is distinct from target_cn::text
                else claimed_by <> target_cn::text end`,
  ),
  invariant(
    "INV-12",
    "a job ends once",
    `
    select format('job %s ended %s times', actor_id, count(*)) as what from ${logIn(scope)} l
     where actor_kind = 'job' and to_state in ('completed', 'failed', 'cancelled')
       and from_state in ('pending', 'in_progress')
     group by actor_id, incarnation having count(*) > 1`,
  ),
  invariant(
    "INV-12",
    "while a job that creates, starts or restarts an instance is open, the instance has a record",
    `
    select format('job %s (%s) of node %s for instance %s', j.id, j.kind, j.target_cn,
                  j.payload->>'instance_id') as what
      from (select * from job where state = 'pending' union all select * from job where state = 'in_progress') j
     where j.kind in ('provision', 'start', 'restart')
       and not exists (select from instance i
                        where i.id = case when j.payload->>'instance_id' ~ '${UUID}'
                                          then (j.payload->>'instance_id')::uuid end)
       and ${NOT_ON_ITS_WAY("job", "j.id")}
       and not exists (select from saga s where s.id = j.saga_id and s.state in ('running', 'unwinding'))`,
  ),
  invariant(
    "INV-12",
    "an ended operation has released its instance",
    `
    select format('instance %s is held by operation %s (%s), which is %s', i.id, i.operation_id, i.operation_kind,
                  coalesce(s.state, 'gone')) as what
      from instance i left join saga s on s.id = i.operation_id
     where i.operation_id is not null and (s.id is null or s.state in ('succeeded', 'unwound'))
       and ${NOT_ON_ITS_WAY("instance", "i.id")}`,
  ),
];
