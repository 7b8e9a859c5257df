// What the clients heard against what the database holds. Each check answers the offending rows in words; none is right.
// The ids are those of reliability.md, section 2.
import type { DbClient } from "../../src/db/pool.ts";
import { type Operation, REQUEST_LIMIT_MS } from "./client.ts";

/** INV-1, 3 and 4: one transition for what was acknowledged, none for what was refused, at most one for the unknown. */
export async function historyViolations(db: DbClient, operations: readonly Operation[]): Promise<string[]> {
  const by_key = await countByKey(db);
  const by_request = await countByRequest(db);
  return operations.flatMap((operation) => {
    const counts = operation.idempotency_key === null
      ? operation.attempts.map(({ status, request_id }) => ({
        outcome: outcomeOf(status),
        count: by_request.get(`${operation.event} ${request_id}`) ?? 0,
      }))
      : [{ outcome: operation.outcome, count: by_key.get(`${operation.event} ${operation.idempotency_key}`) ?? 0 }];
    const wrong = counts.filter(({ outcome, count }) => !allowed(outcome, count));
    const slow = operation.attempts.filter(({ took_ms }) => took_ms >= REQUEST_LIMIT_MS);
    return [
      ...wrong.map(({ outcome, count }) => `${outcome} with ${count} transitions: ${describe(operation)}`),
      ...slow.map(({ took_ms }) => `no answer within ${Math.round(took_ms)} ms: ${describe(operation)}`),
    ];
  });
}

function outcomeOf(status: number | null): Operation["outcome"] {
  if (status === null || status >= 500) return "unknown";
  return status < 300 ? "acknowledged" : "refused";
}

function allowed(outcome: Operation["outcome"], count: number): boolean {
  switch (outcome) {
    case "acknowledged":
      return count === 1;
    case "refused":
      return count === 0;
    case "unknown":
      return count <= 1;
  }
}

function describe({ event, path, body, idempotency_key, attempts }: Operation): string {
  return JSON.stringify({ event, path, body, idempotency_key, attempts });
}

async function countByKey(db: DbClient): Promise<Map<string, number>> {
  const { rows } = await db.query<{ key: string; event: string; count: number }>(
    `select i.key, t.event, count(*) as count from idempotency i
       join transition t on t.msg_id = i.msg_id and t.actor_kind = 'cn' group by i.key, t.event`,
  );
  return new Map(rows.map(({ key, event, count }) => [`${event} ${key}`, count]));
}

async function countByRequest(db: DbClient): Promise<Map<string, number>> {
  const { rows } = await db.query<{ event: string; request_id: string; count: number }>(
    `select event, audit->>'request_id' as request_id, count(*) as count from transition
      where actor_kind = 'cn' and audit is not null group by 1, 2`,
  );
  return new Map(rows.map(({ event, request_id, count }) => [`${event} ${request_id}`, count]));
}

/** Every query answers rows that must not be. */
const INVARIANTS: Readonly<Record<string, string>> = {
  "INV-2: seq runs from 1 without a gap": `
    select actor_kind, actor_id, incarnation from transition group by 1, 2, 3
    having count(*) <> max(seq) or min(seq) <> 1`,
  "INV-2: each transition starts where the one before it ended": `
    select * from (
      select actor_kind, actor_id, seq, event, from_state,
             lag(to_state, 1, case actor_kind when 'request' then 'none' else 'absent' end)
               over (partition by actor_kind, actor_id, incarnation order by seq) as before
        from transition) t where from_state <> before`,
  "INV-2: every step of a node is in the published table": `
    select actor_id, event, from_state, to_state from transition where actor_kind = 'cn'
     and (event, from_state, to_state) not in (values
       ('register', 'absent', 'pending'), ('register', 'absent', 'approved'), ('register', 'pending', 'pending'),
       ('register', 'approved', 'approved'), ('register', 'disabled', 'pending'), ('approve', 'pending', 'approved'),
       ('key_used', 'approved', 'approved'), ('key_used', 'disabled', 'disabled'), ('disable', 'pending', 'disabled'),
       ('disable', 'approved', 'disabled'), ('disable', 'disabled', 'disabled'), ('remove', 'pending', 'absent'),
       ('remove', 'disabled', 'absent'))
     and not (event in ('set_role', 'set_reservoir') and from_state = to_state)`,
  "INV-2: the stored node is the fold of its transitions": `
    with last as (select distinct on (actor_id) actor_id, incarnation, seq, to_state from transition
                   where actor_kind = 'cn' order by actor_id, id desc)
    select coalesce(last.actor_id, cn.server_uuid::text) as node, last.to_state, cn.state, last.seq, cn.version
      from last full join cn on cn.server_uuid::text = last.actor_id
     where coalesce(last.to_state, 'absent') <> coalesce(cn.state, 'absent')
        or (cn.state is not null and (last.seq, last.incarnation) is distinct from (cn.version, cn.incarnation))`,
  "INV-6: a message acts on an actor once": `
    select actor_kind, actor_id, msg_id from transition group by 1, 2, 3 having count(*) > 1`,
  "INV-9: a node has at most one live key, and it is the one that it is bound to": `
    select k.id, k.bound_to_cn, cn.state from api_key k left join cn on cn.server_uuid = k.bound_to_cn
     where k.bound_to_cn is not null and cn.bound_api_key_id is distinct from k.id`,
  "INV-9: an approved node has its key": `
    select server_uuid from cn where state = 'approved'
       and not exists (select from api_key k where k.id = cn.bound_api_key_id and k.bound_to_cn = cn.server_uuid)`,
  "each approval has exactly one operation": `
    select t.actor_id, t.msg_id from transition t
     where t.actor_kind = 'cn' and t.to_state = 'approved' and t.from_state <> 'approved'
       and (select count(*) from transition s where s.msg_id = t.msg_id and s.actor_kind = 'saga'
               and s.event = 'start') <> 1`,
};

/** Checks the stored rows and the log against the rules that hold at any moment. */
export async function invariantViolations(db: DbClient): Promise<string[]> {
  const found: string[] = [];
  for (const [rule, query] of Object.entries(INVARIANTS)) {
    const { rows } = await db.query(query);
    found.push(...rows.map((row) => `${rule}: ${JSON.stringify(row)}`));
  }
  return found;
}

/** INV-17. Ask after a verify, which chains what is pending. */
export async function auditViolations(db: DbClient): Promise<string[]> {
  const { rows } = await db.query(
    `select t.id, t.event, count(e.seq) as entries from transition t left join audit_event e on e.transition_id = t.id
      group by t.id having count(e.seq) <> (case when t.audit is null then 0 else 1 end)`,
  );
  const gaps = await db.query("select count(*), max(seq) from audit_event having count(*) <> max(seq) + 1");
  return [
    ...rows.map((row) => `INV-17: one entry per audited transition: ${JSON.stringify(row)}`),
    ...gaps.rows.map((row) => `INV-17: the chain has a gap: ${JSON.stringify(row)}`),
  ];
}
