import type { AnyCommand } from "../../framework.ts";
import { AUDIT_COLUMNS, auditList, findEvents } from "../../internal/audit-search.ts";
import { withIo } from "../open-io.ts";
import { needTenant } from "../scope.ts";

export function list(): AnyCommand {
  return auditList("List the audit events of the tenant, newest first", "--action instance_stop --limit 20")
    .action(withIo(async (io, { limit, ...search }) => {
      const path = `/v1/tenants/${await needTenant(io)}/audit/events`;
      const page = await findEvents(io, { path, search, rows: limit });
      io.table(page, page.events, AUDIT_COLUMNS, "(no audit events)");
      if (page.next_before_seq !== null) io.note("Earlier events may exist; raise --limit to see them");
    }));
}
