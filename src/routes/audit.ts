// The audit chain.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { AuditEvent, AuditPage, AuditVerification } from "../contract/audit.ts";
import { wholeNumber } from "../contract/common.ts";
import { NOT_FOUND } from "../contract/fault.ts";
import { AUDIT_PAGE_ROWS_MAX } from "../contract/limits.ts";
import { faultResponse } from "../http/fault-status.ts";
import { answers, rights } from "./answer.ts";
import type { App, RouteDeps } from "./deps.ts";

type Deps = Pick<RouteDeps, "allow" | "audit">;

const tags = ["Audit"];
const seq = wholeNumber(0, Number.MAX_SAFE_INTEGER);

export function auditRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/audit/events",
    tags,
    summary: "List audit events, oldest first",
    ...rights(deps, "AuditList"),
    request: {
      query: z.object({
        after_seq: seq.optional().describe("Only later events. Default: from the first event"),
        limit: wholeNumber(1, AUDIT_PAGE_ROWS_MAX).optional().describe("Default 100"),
      }),
    },
    responses: answers(AuditPage, "The events, and the head of the chain"),
  });
  app.openapi(listRoute, async (c) => c.json(await deps.audit.list(c.req.valid("query")), 200));

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
    responses: answers(AuditVerification, "Ok up to an event, or the first event that does not match"),
  });
  app.openapi(verifyRoute, async (c) => c.json(await deps.audit.verify(c.req.valid("query")), 200));
}
