import type { AuditEvent, AuditPage } from "../../../src/contract/audit.ts";
import { AUDIT_DECISIONS } from "../../../src/contract/enums.ts";
import { AUDIT_PAGE_ROWS_DEFAULT, AUDIT_PAGE_ROWS_MAX } from "../../../src/contract/limits.ts";
import { type AnyCommand, listCommand, oneOf, wholeNumber } from "../../framework.ts";
import { actorText, outcomeText } from "../../internal/audit-text.ts";
import { usageFailure } from "../../internal/failure.ts";
import type { Io } from "../../internal/io.ts";
import { withIo } from "../../internal/run.ts";
import { type Column, TIME_COLUMN } from "../../internal/table.ts";

const COLUMNS: readonly Column<AuditEvent>[] = [
  ["SEQ", (event) => event.seq],
  ["TIME", (event) => event.ts, TIME_COLUMN],
  ["ACTOR", (event) => actorText(event.actor)],
  ["ACTION", (event) => event.action],
  ["RESOURCE", (event) => event.resource],
  ["DECISION", (event) => event.decision],
  ["OUTCOME", (event) => outcomeText(event.outcome)],
];

export function list(): AnyCommand {
  return listCommand("list", "List audit events, oldest first", "--newest --action cn_approve --limit 20")
    .option("--after-seq <seq>", "list only events after this sequence number", wholeNumber(0))
    .option("--limit <rows>", "number of events", wholeNumber(1), AUDIT_PAGE_ROWS_DEFAULT)
    .option("--newest", "list the newest events first; the filters below also do so")
    .option("--actor <id>", "list only events of this user or API key")
    .option("--action <name>", "list only this action, for example cn_approve")
    .option("--resource <text>", "list only events whose resource contains this text, such as a UUID")
    .option("--request <id>", "list only events of this request")
    .addOption(oneOf("--decision <decision>", "list only events with this decision", AUDIT_DECISIONS))
    .option("--since <time>", "list only events from this time on, such as 2026-09-01T12:00:00Z")
    .option("--until <time>", "list only events before this time")
    .action(withIo(async (io, { afterSeq, limit, newest, ...options }) => {
      const { actor, action, resource, request: request_id, decision, since, until } = options;
      const search = { actor, action, resource, request_id, decision, since, until };
      const isSearch = newest === true || Object.values(search).some((value) => value !== undefined);
      if (isSearch && afterSeq !== undefined) {
        throw usageFailure("--after-seq lists the oldest events first; leave out --newest and the filters");
      }
      const page = isSearch ? await find(io, search, limit) : await collect(io, afterSeq, limit);
      io.table(page, page.events, COLUMNS, "(no audit events)");
      const last_seq = page.events.at(-1)?.seq;
      if (!isSearch && last_seq !== undefined && page.head !== null && last_seq < page.head.seq) {
        io.note(`More events follow; continue with --after-seq ${last_seq}`);
      }
    }));
}

async function collect(io: Io, after: number | undefined, rows: number): Promise<AuditPage> {
  const events: AuditEvent[] = [];
  for (;;) {
    const limit = Math.min(AUDIT_PAGE_ROWS_MAX, rows - events.length);
    const after_seq = events.at(-1)?.seq ?? after;
    const page = await io.get<AuditPage>("/v1/audit/events", { after_seq, limit });
    events.push(...page.events);
    if (events.length >= rows || page.events.length < limit) return { ...page, events };
  }
}

/** Finds the newest events that match. A page may be empty although earlier events match. */
async function find(io: Io, search: Readonly<Record<string, string | undefined>>, rows: number): Promise<AuditPage> {
  const events: AuditEvent[] = [];
  let before_seq: number | undefined;
  for (;;) {
    const limit = Math.min(AUDIT_PAGE_ROWS_MAX, rows - events.length);
    const page = await io.get<AuditPage>("/v1/audit/events", { ...search, order: "desc", before_seq, limit });
    events.push(...page.events);
    if (events.length >= rows || page.next_before_seq === null) return { ...page, events };
    before_seq = page.next_before_seq;
  }
}
