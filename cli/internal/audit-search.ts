// Searches the audit events of the site or of one tenant, newest first.
import type { AuditEvent, AuditPage } from "../../src/contract/audit.ts";
import { AUDIT_DECISIONS } from "../../src/contract/enums.ts";
import { AUDIT_PAGE_ROWS_DEFAULT, AUDIT_PAGE_ROWS_MAX } from "../../src/contract/limits.ts";
import { listCommand, oneOf, wholeNumber } from "../framework.ts";
import { actorText, outcomeText } from "./audit-text.ts";
import type { Query } from "./exchange.ts";
import type { Io } from "./io.ts";
import { serverNowMs } from "./server-clock.ts";
import { type Column, TIME_COLUMN, WIDE_COLUMN } from "./table.ts";
import { TIME_HELP, timeOf } from "./time-text.ts";

export const AUDIT_COLUMNS: readonly Column<AuditEvent>[] = [
  ["SEQ", (event) => event.seq],
  ["TIME", (event) => event.ts, TIME_COLUMN],
  ["ACTOR", (event) => actorText(event.actor)],
  ["ACTION", (event) => event.action, { whole: true }],
  ["RESOURCE", (event) => event.resource],
  // Hidden by default, because the outcome already shows that a request was denied.
  ["DECISION", (event) => event.decision, WIDE_COLUMN],
  ["OUTCOME", (event) => outcomeText(event.outcome)],
];

export type AuditSearch = {
  readonly actor?: string;
  readonly action?: string;
  readonly resource?: string;
  readonly request?: string;
  readonly decision?: string;
  readonly since?: string;
  readonly until?: string;
};

/** Returns the verb `list` with the filters of a search. */
export function auditList(summary: string, example: string, actor_help = "list only events of this user or API key") {
  return listCommand("list", summary, example)
    .option("--limit <rows>", "number of events", wholeNumber(1), AUDIT_PAGE_ROWS_DEFAULT)
    .option("--actor <id>", actor_help)
    .option("--action <name>", "list only this action, for example instance_create")
    .option("--resource <text>", "list only events whose resource contains this text, such as a UUID")
    .option("--request <id>", "list only events of this request")
    .addOption(oneOf("--decision <decision>", "list only events with this decision", AUDIT_DECISIONS))
    .option("--since <time>", `list only events from this time on: ${TIME_HELP}`)
    .option("--until <time>", "list only events before this time");
}

type Find = {
  readonly path: string;
  /** Query parameters that the path requires in addition to the search. */
  readonly query?: Query;
  readonly search: AuditSearch;
  readonly rows: number;
};

/** Finds the newest events that match. A page may be empty although earlier events match. */
export async function findEvents(io: Io, { path, query, search, rows }: Find): Promise<AuditPage> {
  const { request: request_id, actor, action, resource, decision } = search;
  const times = [timeOf("--since", search.since), timeOf("--until", search.until)] as const;
  // An age is subtracted from the server's time. This request obtains the server's time from the answer's Date header.
  if (times.some((time) => typeof time === "number")) await io.get("/v1/health");
  const [since, until] = times.map((time) =>
    typeof time === "number" ? new Date(serverNowMs(io.environment) - time).toISOString() : time
  );
  const filters = { actor, action, resource, request_id, decision, since, until };
  const events: AuditEvent[] = [];
  let before_seq: number | undefined;
  for (;;) {
    const limit = Math.min(AUDIT_PAGE_ROWS_MAX, rows - events.length);
    const page = await io.get<AuditPage>(path, { ...query, ...filters, before_seq, limit });
    events.push(...page.events);
    if (events.length >= rows || page.next_before_seq === null) return { ...page, events };
    before_seq = page.next_before_seq;
  }
}
