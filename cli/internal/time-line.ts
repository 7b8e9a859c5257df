// Builds the time line of one object: its operations, and for operators also its jobs and audit events, in the order of
// their times.
import type { AuditEvent, AuditPage } from "../../src/contract/audit.ts";
import type { Page } from "../../src/contract/common.ts";
import type { Job } from "../../src/contract/job.ts";
import { AUDIT_PAGE_ROWS_MAX, OPERATION_PAGE_ROWS_MAX, PAGE_ROWS_MAX } from "../../src/contract/limits.ts";
import type { OperationSummary } from "../../src/contract/operation.ts";
import { actorText, outcomeText } from "./audit-text.ts";
import type { Io } from "./io.ts";
import { OPERATIONS_PATH } from "./operation/text.ts";
import { AGE_COLUMN, type Column, ID_COLUMN, TIME_COLUMN } from "./table.ts";

export type TimeLineEvent = {
  /** An ISO 8601 time. */
  readonly at: string;
  readonly source: "operation" | "job" | "audit";
  /** Id of the operation or job, or the sequence number of the audit event. */
  readonly id: string;
  readonly event: string;
  readonly detail: string;
};
export type Subject = { readonly scope: "cn" | "instance"; readonly id: string };
type Source = (io: Io, subject: Subject, rows: number) => Promise<TimeLineEvent[]>;

/** The default of --limit, in `describe` and in `events`. */
export const EVENTS_SHOWN = 50;

export const EVENT_COLUMNS: readonly Column<TimeLineEvent>[] = [
  ["TIME", ({ at }) => at, TIME_COLUMN],
  ["AGE", ({ at }) => at, AGE_COLUMN],
  ["SOURCE", ({ source }) => source],
  ["EVENT", ({ event }) => event],
  ["DETAIL", ({ detail }) => detail],
  ["ID", ({ id }) => id, ID_COLUMN],
];

/** Only operators may read jobs and the audit chain. */
const OPERATOR_SOURCES: readonly Source[] = [operations, jobs, audit];
const TENANT_SOURCES: readonly Source[] = [operations];

/**
 * Returns the newest events of an object, at most `rows`, oldest first. Reads only one page of operations and one page
 * of jobs.
 */
export async function timeLine(io: Io, subject: Subject, rows: number): Promise<readonly TimeLineEvent[]> {
  const sources = io.program === "opsctl" ? OPERATOR_SOURCES : TENANT_SOURCES;
  const events = (await Promise.all(sources.map((source) => source(io, subject, rows)))).flat();
  return events.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at)).slice(-rows);
}

async function operations(io: Io, { scope, id }: Subject, rows: number): Promise<TimeLineEvent[]> {
  const limit = Math.min(rows, OPERATION_PAGE_ROWS_MAX);
  const query = { resource_scope: scope, resource_id: id, limit };
  return (await io.get<OperationSummary[]>(OPERATIONS_PATH, query)).flatMap((operation) => {
    const { id, kind, state, error, stuck_reason, time_created, time_done } = operation;
    const why = error ?? stuck_reason;
    const now = why === null ? state : `${state}: ${why}`;
    const event = { source: "operation", id, event: kind } as const;
    return time_done === null
      ? [{ ...event, at: time_created, detail: `created, now ${now}` }]
      : [{ ...event, at: time_created, detail: "created" }, { ...event, at: time_done, detail: now }];
  });
}

async function jobs(io: Io, { scope, id }: Subject, rows: number): Promise<TimeLineEvent[]> {
  const query = { [scope]: id, limit: Math.min(rows, PAGE_ROWS_MAX) };
  return (await io.get<Page<Job>>("/v1/system/jobs", query)).items.flatMap((job) => {
    const { id, kind, status, created_at, claimed_at, completed_at, target_cn_uuid } = job;
    const event = { source: "job", id, event: kind.kind } as const;
    const end = status.reason === undefined ? status.status : `${status.status}: ${status.reason}`;
    return [
      { ...event, at: created_at, detail: target_cn_uuid === null ? "queued" : `queued for node ${target_cn_uuid}` },
      ...(claimed_at === null ? [] : [{ ...event, at: claimed_at, detail: "claimed" }]),
      ...(completed_at === null ? [] : [{ ...event, at: completed_at, detail: end }]),
    ];
  });
}

async function audit(io: Io, { id }: Subject, rows: number): Promise<TimeLineEvent[]> {
  const events: AuditEvent[] = [];
  let before_seq: number | undefined;
  for (;;) {
    const limit = Math.min(rows - events.length, AUDIT_PAGE_ROWS_MAX);
    const page = await io.get<AuditPage>("/v1/audit/events", { resource: id, order: "desc", before_seq, limit });
    events.push(...page.events);
    if (events.length >= rows || page.next_before_seq === null) break;
    before_seq = page.next_before_seq;
  }
  return events.map(({ seq, ts, actor, action, outcome }) => ({
    at: ts,
    source: "audit",
    id: String(seq),
    event: action,
    detail: `${outcomeText(outcome)}, by ${actorText(actor)}`,
  }));
}
