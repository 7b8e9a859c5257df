// Queries on operations. Operators see all operations; a tenant sees the operations that reference the tenant.
import { type Kysely, sql } from "kysely";
import type { OperationState } from "../../src/contract/enums.ts";
import type { OperationStep, OperationSummary, OperationView, Reference } from "../../src/contract/operation.ts";
import type { Database, SagaRow } from "../../src/db/tables.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import type { SagaDefinition } from "../engine/saga.ts";
import { finder } from "../record/reads.ts";

type Db = Kysely<Database>;

export type OperationQuery = {
  readonly rows: number;
  readonly after_id?: string;
  readonly reference?: Reference;
  /** Only operations that reference this tenant. */
  readonly tenant_id?: string;
  readonly state?: OperationState;
  /** The saga's name. */
  readonly kind?: string;
};

/**
 * Lists operations, newest first. With `after_id`, the list continues after the operation with this id, and is empty if
 * `isListed` returns false for that operation.
 */
export async function listOperations(db: Db, query: OperationQuery): Promise<OperationSummary[]> {
  const { rows, after_id, reference, tenant_id, state, kind } = query;
  const seen = seenBy(tenant_id);
  const wanted = reference === undefined ? seen : [...seen, reference];
  const found = await db.selectFrom("saga").selectAll()
    .$if(wanted.length > 0, (q) => q.where(refersTo(wanted)))
    .$if(after_id !== undefined, (q) => {
      // A page cannot start after an operation that the caller may not see.
      const from = sql`select created_at, id from saga where id = ${after_id}::uuid and ${refersTo(seen)}`;
      return q.where(sql<boolean>`(created_at, id) < (${from})`);
    })
    .$if(state !== undefined, (q) => q.where(sql<boolean>`state = ${state!}`))
    .$if(kind !== undefined, (q) => q.where("saga", "=", kind!))
    .orderBy("created_at", "desc").orderBy("id", "desc").limit(rows).execute();
  return found.map(summary);
}

/** Returns whether an operation exists, and references the tenant if one is given. */
export async function isListed(db: Db, id: string, tenant_id: string | undefined): Promise<boolean> {
  const row = await db.selectFrom("saga").select("id").where("id", "=", id).where(refersTo(seenBy(tenant_id)))
    .executeTakeFirst();
  return row !== undefined;
}

/** Returns the references that an operation must have to be visible: the tenant, or none for an operator. */
function seenBy(tenant_id: string | undefined): Reference[] {
  return tenant_id === undefined ? [] : [{ scope: "tenant", id: tenant_id }];
}

function refersTo(references: readonly Reference[]) {
  return sql<boolean>`refs @> ${JSON.stringify(references)}::jsonb`;
}

export async function findOperation(
  db: Db,
  id: string,
  definitions: readonly SagaDefinition<never>[],
): Promise<OperationView | undefined> {
  const row = await db.selectFrom("saga").selectAll().where("id", "=", id).executeTakeFirst();
  return row === undefined ? undefined : view(row, definitions);
}

/** Finds which of these operations have ended or are stuck, for callers that wait. */
export async function findEnded(db: Db, ids: readonly string[]): Promise<Map<string, { readonly ended: true }>> {
  const rows = await db.selectFrom("saga").select("id").where("id", "in", ids)
    .where("state", "in", ["succeeded", "unwound", "stuck"]).execute();
  return new Map(rows.map(({ id }) => [id, { ended: true }]));
}

/**
 * Finds the operations whose waiting callers can get an answer: operations that have ended or are stuck, and operations
 * that wait for a node to undo its part. The wait for a node can last a day (NODE_WAIT_MS).
 */
export async function findDecided(db: Db, ids: readonly string[]): Promise<Map<string, { readonly ended: true }>> {
  const rows = await db.selectFrom("saga").select("id").where("id", "in", ids)
    .where(sql<boolean>`state in ('succeeded', 'unwound', 'stuck') or (state = 'unwinding' and job_id is not null
      and exists (select from job where saga_id = saga.id and (tombstone or state in ('pending', 'in_progress'))))`)
    .execute();
  return new Map(rows.map(({ id }) => [id, { ended: true }]));
}

/**
 * The status of an operation. `output` is the output of the step `finish`; null if that step has not ended or does not
 * exist.
 */
export type OperationStatus = { readonly summary: OperationSummary; readonly output: unknown };

export const findOperationStatus = finder<OperationStatus>(async (db, ids) => {
  const rows = await db.selectFrom("saga").selectAll().where(sql<boolean>`id = any(${ids})`).execute();
  return new Map(rows.map((row) => [row.id, { summary: summary(row), output: row.outputs["finish"] ?? null }]));
});

function summary(row: SagaRow): OperationSummary {
  return {
    id: row.id,
    kind: row.saga,
    state: row.state,
    references: row.refs,
    stuck_reason: row.stuck_reason,
    error: row.error,
    time_created: toRfc3339(row.created_at),
    time_done: row.done_at === null ? null : toRfc3339(row.done_at),
  };
}

function view(row: SagaRow, definitions: readonly SagaDefinition<never>[]): OperationView {
  const known = definitions.find((definition) => definition.name === row.saga)?.steps;
  // A saga that this build does not know shows its recorded steps, in the stored order.
  const order = known?.map(({ name, kind }) => ({ name, kind })) ??
    Object.keys(row.steps).map((name) => ({ name, kind: "write" as const }));
  const steps = order.map((step, index) => stepView(row, step, index));
  return {
    ...summary(row),
    epoch: row.version,
    params: row.params,
    progress: {
      completed_steps: steps.filter((step) => step.status === "succeeded").length,
      total_steps: steps.length,
      current_step: row.step,
    },
    steps,
  };
}

function stepView(row: SagaRow, step: { name: string; kind: "write" | "job" | "wait" }, index: number): OperationStep {
  const record = row.steps[step.name];
  return {
    index,
    ...step,
    status: record?.status ?? "pending",
    output: row.outputs[step.name] ?? null,
    error_message: record?.error ?? null,
    undo_error: record?.undo_error ?? null,
    job_id: record?.job_id ?? null,
    started_at: record?.started_at ?? null,
    ended_at: record?.ended_at ?? null,
  };
}
