import type { AuditEvent, AuditPage } from "../../../src/contract/audit.ts";
import { AUDIT_PAGE_ROWS_MAX } from "../../../src/contract/limits.ts";
import { type AnyCommand, wholeNumber } from "../../framework.ts";
import { AUDIT_COLUMNS, auditList, findEvents } from "../../internal/audit-search.ts";
import { usageFailure } from "../../internal/failure.ts";
import type { Io } from "../../internal/io.ts";
import { withIo } from "../../internal/run.ts";
import { resolveUser } from "../user/user.ts";

const PATH = "/v1/audit/events";
const EARLIER_NOTE = "Earlier events may exist; raise --limit to see them, or list the oldest first with --oldest";

export function list(): AnyCommand {
  const actor_help = "list only events of this user (UUID or username) or API key (UUID)";
  return auditList("List audit events, newest first", "--action cn_approve --since 1h", actor_help)
    .option("--oldest", "list the oldest events first; to read all events, continue with --after-seq")
    .option("--after-seq <seq>", "list events after this sequence number, oldest first", wholeNumber(0))
    .option(
      "--tail <rows>",
      "list this number of the newest events, oldest first; with --newest, newest first",
      wholeNumber(1),
    )
    .option("--newest", "list the newest events first (the default, except with --tail)")
    .action(withIo(async (io, { afterSeq, limit, newest, oldest, tail, ...options }) => {
      const { action, resource, request, decision, since, until } = options;
      const actor = options.actor === undefined ? undefined : await resolveUser(io, options.actor);
      const search = { actor, action, resource, request, decision, since, until };
      const asksNewest = newest === true || tail !== undefined ||
        Object.values(search).some((value) => value !== undefined);
      // A script that reads all events begins with --oldest, and continues with --after-seq.
      const isFromOldest = oldest === true || afterSeq !== undefined;
      if (asksNewest && isFromOldest) {
        const option = afterSeq === undefined ? "--oldest" : "--after-seq";
        throw usageFailure(`${option} lists the oldest events first; leave out --newest, --tail and the filters`);
      }
      const found = isFromOldest
        ? await collect(io, afterSeq, limit)
        : await findEvents(io, { path: PATH, query: { order: "desc" }, search, rows: tail ?? limit });
      const isReversed = tail !== undefined && newest !== true;
      const page = isReversed ? { ...found, events: found.events.toReversed() } : found;
      io.table(page, page.events, AUDIT_COLUMNS, "(no audit events)");
      const last_seq = page.events.at(-1)?.seq;
      if (isFromOldest && last_seq !== undefined && page.head !== null && last_seq < page.head.seq) {
        io.note(`More events follow; continue with --after-seq ${last_seq}`);
      }
      if (!isFromOldest && !asksNewest && page.next_before_seq !== null) io.note(EARLIER_NOTE);
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
