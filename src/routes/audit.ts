// Defines the routes for the audit chain.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { AuditEvent, AuditPage, AuditVerification } from "../contract/audit.ts";
import { atTenant } from "../auth/resource-scope.ts";
import { GivenTimestamp, Uuid, wholeNumber } from "../contract/common.ts";
import { AUDIT_DECISIONS } from "../contract/enums.ts";
import { badRequest, NOT_FOUND } from "../contract/fault.ts";
import { AUDIT_PAGE_ROWS_MAX, AUDIT_SEARCH_EVENTS_MAX, SEARCH_CHARS_MAX } from "../contract/limits.ts";
import { faultResponse } from "../http/fault-status.ts";
import { answers, rights } from "./answer.ts";
import type { App, RouteDeps } from "./deps.ts";

type Deps = Pick<RouteDeps, "allow" | "audit">;

const tags = ["Audit"];
const seq = wholeNumber(0, Number.MAX_SAFE_INTEGER);

const FILTERS = {
  before_seq: seq.optional().describe("Only earlier events"),
  actor: Uuid.optional().describe("The id of a user or an API key"),
  action: z.string().max(64).optional(),
  resource: z.string().max(SEARCH_CHARS_MAX).optional().describe("A part of the resource, such as a UUID"),
  request_id: Uuid.optional(),
  decision: z.enum(AUDIT_DECISIONS).optional(),
  since: GivenTimestamp.optional(),
  until: GivenTimestamp.optional().describe("Only events before this time"),
};

const SEARCHED = AUDIT_SEARCH_EVENTS_MAX.toLocaleString("en");

export function auditRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/audit/events",
    tags,
    summary: "List audit events",
    description:
      "Lists the oldest events first or, with `order=desc`, the newest first. The filters require `order=desc`. One " +
      `request searches ${SEARCHED} events. Continue the search with \`next_before_seq\`, even after a page without ` +
      "events.",
    ...rights(deps, "AuditList"),
    request: {
      query: z.object({
        after_seq: seq.optional().describe("Only later events. Default: from the first event"),
        limit: wholeNumber(1, AUDIT_PAGE_ROWS_MAX).optional().describe("Default 100"),
        order: z.enum(["asc", "desc"]).optional().describe("Default asc"),
        ...FILTERS,
      }),
    },
    responses: answers(AuditPage, "The events, and the head of the chain"),
  });
  app.openapi(listRoute, async (c) => {
    const { order = "asc", after_seq, limit, ...search } = c.req.valid("query");
    const isFiltered = Object.values(search).some((value) => value !== undefined);
    if (order === "desc") {
      if (after_seq !== undefined) return faultResponse(c, badRequest("after_seq: needs order=asc; send before_seq"));
      return c.json(await deps.audit.search({ ...search, limit }), 200);
    }
    if (isFiltered) return faultResponse(c, badRequest("before_seq and the filters need order=desc"));
    return c.json(await deps.audit.list({ after_seq, limit }), 200);
  });

  const tenantRoute = createRoute({
    method: "get",
    path: "/v1/tenants/{tenant_id}/audit/events",
    tags,
    summary: "Search the audit events of a tenant, newest first",
    description:
      "Finds the events of the tenant's users and keys, and the permitted changes that others made to the tenant's " +
      "objects. The events of a deleted user or key are only in the site's chain. Continue a search with " +
      "`next_before_seq`. `head` is null: only the site has a chain.",
    ...rights(deps, "TenantAuditList", atTenant),
    request: {
      params: z.object({ tenant_id: Uuid }),
      query: z.object({
        limit: wholeNumber(1, AUDIT_PAGE_ROWS_MAX).optional().describe("Default 100"),
        ...FILTERS,
        project: Uuid.optional().describe(
          "Only events of this project and of its objects. Leaves out refused requests, and objects of deleted VPCs",
        ),
      }),
    },
    responses: answers(AuditPage, "The events"),
  });
  app.openapi(tenantRoute, async (c) => {
    const { tenant_id } = c.req.valid("param");
    const page = await deps.audit.search({ ...c.req.valid("query"), tenant_id });
    return c.json({ ...page, head: null }, 200);
  });

  const showRoute = createRoute({
    method: "get",
    path: "/v1/audit/events/{seq}",
    tags,
    summary: "Show one audit event",
    ...rights(deps, "AuditList"),
    request: { params: z.object({ seq }) },
    responses: answers(AuditEvent, "The event"),
  });
  app.openapi(showRoute, async (c) => {
    const event = await deps.audit.get(c.req.valid("param").seq);
    return event === null ? faultResponse(c, NOT_FOUND) : c.json(event, 200);
  });

  const verifyRoute = createRoute({
    method: "get",
    path: "/v1/audit/verify",
    tags,
    summary: "Verify the chain",
    description: "Recomputes every hash of the range. Keep a copy of the head outside of the system: only this copy " +
      "shows that the end of the chain was rewritten.",
    ...rights(deps, "AuditVerify"),
    request: { query: z.object({ from: seq.optional(), to: seq.optional() }) },
    responses: answers(AuditVerification, "The last event that was verified, or the first event that does not match"),
  });
  app.openapi(verifyRoute, async (c) => c.json(await deps.audit.verify(c.req.valid("query")), 200));
}
