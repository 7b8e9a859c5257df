// Compares the clients' replies with the database. Each check returns the violations as texts; an empty list passes.
// For the rules INV-n, see docs/reliability.md, "Invariants".
import type { DbClient } from "../../src/db/pool.ts";
import { brokenInvariants } from "../doctor/broken.ts";
import { type Operation, REQUEST_LIMIT_MS } from "./client.ts";

/**
 * Checks INV-1, 3 and 4. An acknowledged request wrote one transition, and a rejected request wrote none. A request
 * with an unknown outcome wrote at most one. Also checks that each attempt ended within REQUEST_LIMIT_MS.
 */
export async function historyViolations(db: DbClient, operations: readonly Operation[]): Promise<string[]> {
  const by_key = await countByKey(db);
  const by_request = await countByRequest(db);
  return operations.flatMap((operation) => {
    const counts = operation.idempotency_key === null
      ? operation.attempts.map(({ status, request_id }) => ({
        outcome: outcomeOf(status),
        count: by_request.get(`${operation.kind} ${operation.event} ${request_id}`) ?? 0,
      }))
      : [{
        outcome: operation.outcome,
        count: by_key.get(`${operation.kind} ${operation.event} ${operation.idempotency_key}`) ?? 0,
      }];
    const wrong = counts.filter(({ outcome, count }) => !allowed(outcome, count));
    const slow = operation.attempts.filter(({ took_ms }) => took_ms >= REQUEST_LIMIT_MS);
    return [
      ...wrong.map(({ outcome, count }) => `${outcome} with ${count} transitions: ${describe(operation)}`),
      ...slow.map(({ took_ms }) => `no reply within ${Math.round(took_ms)} ms: ${describe(operation)}`),
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

function describe({ kind, event, path, body, idempotency_key, attempts }: Operation): string {
  return JSON.stringify({ kind, event, path, body, idempotency_key, attempts });
}

async function countByKey(db: DbClient): Promise<Map<string, number>> {
  const { rows } = await db.query<{ of: string; count: number }>(
    `select concat_ws(' ', t.actor_kind, t.event, i.key) as of, count(*) as count from idempotency i
       join transition t on t.msg_id = i.msg_id group by 1`,
  );
  return new Map(rows.map(({ of, count }) => [of, count]));
}

async function countByRequest(db: DbClient): Promise<Map<string, number>> {
  const { rows } = await db.query<{ of: string; count: number }>(
    `select concat_ws(' ', actor_kind, event, audit->>'request_id') as of, count(*) as count from transition
      where audit is not null group by 1`,
  );
  return new Map(rows.map(({ of, count }) => [of, count]));
}

/** Checks the invariants in the database. */
export function invariantViolations(db: DbClient): Promise<string[]> {
  return brokenInvariants(db);
}

/** Checks INV-17. Call it after a verify, which chains pending events. */
export async function auditViolations(db: DbClient): Promise<string[]> {
  const { rows } = await db.query(
    `select t.id, t.event, count(e.seq) as entries from transition t left join audit_event e on e.transition_id = t.id
      group by t.id having count(e.seq) <> (case when t.audit is null then 0 else 1 end)`,
  );
  const gaps = await db.query("select count(*), max(seq) from audit_event having count(*) <> max(seq) + 1");
  return [
    ...rows.map((row) => `INV-17: not one entry per audited transition: ${JSON.stringify(row)}`),
    ...gaps.rows.map((row) => `INV-17: the chain has a gap: ${JSON.stringify(row)}`),
  ];
}
