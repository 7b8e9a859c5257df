import type { AuditEvent, AuditPage } from "../../../src/contract/audit.ts";
import { AUDIT_PAGE_ROWS_MAX } from "../../../src/contract/limits.ts";
import { type AnyCommand, wholeNumber } from "../../framework.ts";
import { AUDIT_COLUMNS, auditList, findEvents } from "../../internal/audit-search.ts";
import { usageFailure } from "../../internal/failure.ts";
import type { Io } from "../../internal/io.ts";
import { withIo } from "../../internal/run.ts";
import { resolveUser } from "../user/user.ts";

const PATH = "/v1/audit/events";
const EARLIER_NOTE = "Earlier events may exist; raise --limit to see them, or list from the oldest with -o json";

export function list(): AnyCommand {
  const actor_help = "list only events of this user (UUID or username) or API key (UUID)";
  return auditList(
    "List audit events, newest first; unless a filter is given, data formats such as json list the oldest first",
    "--newest --action cn_approve --since 1h",
    actor_help,
  )
    .option("--after-seq <seq>", "list events after this sequence number, oldest first", wholeNumber(0))
    .option(
      "--tail <rows>",
      "list this number of the newest events, oldest first; with --newest, newest first",
      wholeNumber(1),
    )
    .option("--newest", "list the newest events first in every format (the default with a filter)")
    .action(withIo(async (io, { afterSeq, limit, newest, tail, ...options }) => {
      const { action, resource, request, decision, since, until } = options;
      const actor = options.actor === undefined ? undefined : await resolveUser(io, options.actor);
      const search = { actor, action, resource, request, decision, since, until };
      const asksNewest = newest === true || tail !== undefined ||
        Object.values(search).some((value) => value !== undefined);
      if (asksNewest && afterSeq !== undefined) {
        throw usageFailure("--after-seq lists the oldest events first; leave out --newest, --tail and the filters");
      }
      // A table shows the newest events. A script that reads all pages begins without --after-seq, at the oldest event.
      const isRead = afterSeq === undefined && (io.format === "table" || io.format === "wide") && !io.is_data;
      const isSearch = asksNewest || isRead;
      const found = isSearch
        ? await findEvents(io, { path: PATH, query: { order: "desc" }, search, rows: tail ?? limit })
        : await collect(io, afterSeq, limit);
      const isReversed = tail !== undefined && newest !== true;
      const page = isReversed ? { ...found, events: found.events.toReversed() } : found;
      io.table(page, page.events, AUDIT_COLUMNS, "(no audit events)");
      const last_seq = page.events.at(-1)?.seq;
      if (!isSearch && last_seq !== undefined && page.head !== null && last_seq < page.head.seq) {
        io.note(`More events follow; continue with --after-seq ${last_seq}`);
      }
      if (isRead && !asksNewest && page.next_before_seq !== null) io.note(EARLIER_NOTE);
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
