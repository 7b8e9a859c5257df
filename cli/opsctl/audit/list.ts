import type { AuditEvent, AuditPage } from "../../../src/contract/audit.ts";
import { AUDIT_PAGE_ROWS_MAX } from "../../../src/contract/limits.ts";
import { type AnyCommand, wholeNumber } from "../../framework.ts";
import { AUDIT_COLUMNS, auditList, findEvents } from "../../internal/audit-search.ts";
import { usageFailure } from "../../internal/failure.ts";
import type { Io } from "../../internal/io.ts";
import { withIo } from "../../internal/run.ts";
import { resolveUser } from "../user/user.ts";

const PATH = "/v1/audit/events";

export function list(): AnyCommand {
  const actor_help = "list only events of this user (UUID or username) or API key (UUID)";
  return auditList("List audit events, oldest first", "--newest --action cn_approve --since 1h", actor_help)
    .option("--after-seq <seq>", "list only events after this sequence number", wholeNumber(0))
    .option("--tail <rows>", "list only this number of newest events, oldest first", wholeNumber(1))
    .option("--newest", "list the newest events first; the filters also do so")
    .action(withIo(async (io, { afterSeq, limit, newest, tail, ...options }) => {
      const { action, resource, request, decision, since, until } = options;
      const actor = options.actor === undefined ? undefined : await resolveUser(io, options.actor);
      const search = { actor, action, resource, request, decision, since, until };
      const isSearch = newest === true || tail !== undefined ||
        Object.values(search).some((value) => value !== undefined);
      if (isSearch && afterSeq !== undefined) {
        throw usageFailure("--after-seq lists the oldest events first; leave out --newest, --tail and the filters");
      }
      const found = isSearch
        ? await findEvents(io, { path: PATH, query: { order: "desc" }, search, rows: tail ?? limit })
        : await collect(io, afterSeq, limit);
      const page = tail === undefined ? found : { ...found, events: found.events.toReversed() };
      io.table(page, page.events, AUDIT_COLUMNS, "(no audit events)");
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
    const page = await io.get<AuditPage>(PATH, { after_seq, limit });
    events.push(...page.events);
    if (events.length >= rows || page.events.length < limit) return { ...page, events };
  }
}
