import type { AuditActor, AuditEvent, AuditOutcome, AuditPage } from "../../../src/contract/audit.ts";
import { AUDIT_PAGE_ROWS_DEFAULT, AUDIT_PAGE_ROWS_MAX } from "../../../src/contract/limits.ts";
import { type AnyCommand, command, wholeNumber } from "../../framework.ts";
import type { Io } from "../../internal/io.ts";
import { withIo } from "../../internal/run.ts";
import type { Column } from "../../internal/table.ts";

const COLUMNS: readonly Column<AuditEvent>[] = [
  ["SEQ", (event) => event.seq],
  ["TIME", (event) => event.ts],
  ["ACTOR", (event) => actorText(event.actor)],
  ["ACTION", (event) => event.action],
  ["RESOURCE", (event) => event.resource],
  ["DECISION", (event) => event.decision],
  ["OUTCOME", (event) => outcomeText(event.outcome)],
];

export function list(): AnyCommand {
  return command("list", "List audit events, oldest first", "--limit 50")
    .option("--after-seq <seq>", "list only events after this sequence number", wholeNumber(0))
    .option("--limit <rows>", "number of events", wholeNumber(1), AUDIT_PAGE_ROWS_DEFAULT)
    .action(withIo(async (io, { afterSeq, limit }) => {
      const page = await collect(io, afterSeq, limit);
      io.table(page, page.events, COLUMNS, "(no audit events)");
      const last_seq = page.events.at(-1)?.seq;
      if (last_seq !== undefined && page.head !== null && last_seq < page.head.seq) {
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
    if (events.length >= rows || page.events.length < limit) return { events, head: page.head };
  }
}

function actorText(actor: AuditActor): string {
  switch (actor.kind) {
    case "operator":
      return `operator ${actor.user_id}`;
    case "api_key":
      return `api_key ${actor.key_id}`;
    case "anonymous":
    case "system":
      return actor.kind;
  }
}

function outcomeText(outcome: AuditOutcome): string {
  switch (outcome.kind) {
    case "success":
    case "forbidden":
      return outcome.kind;
    case "unauthenticated":
      return `unauthenticated: ${outcome.reason}`;
    case "client_error":
    case "server_error":
      return `${outcome.kind}: ${outcome.message}`;
  }
}
