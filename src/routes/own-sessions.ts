// Defines the routes for the caller's sessions (docs/tenancy.md, "Credentials"). With these routes, users see where
// they are signed in and end forgotten sessions.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { listSessions, type OwnSessions } from "../../actors/session/reads.ts";
import { callerOf } from "../auth/authorize.ts";
import { Uuid } from "../contract/common.ts";
import { isFault } from "../contract/fault.ts";
import { SessionListed } from "../contract/identity.ts";
import { faultResponse } from "../http/fault-status.ts";
import { answers, answersNothing, rights } from "./answer.ts";
import type { App, Ctx, Writes } from "./deps.ts";

const tags = ["Credentials"];

export function ownSessionRoutes(app: App, deps: Writes): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/auth/sessions",
    tags,
    summary: "List the caller's sessions",
    description: "Newest first. A key that is bound to a tenant sees only the sessions that it opened.",
    ...rights(deps, "SessionList"),
    responses: answers(z.array(SessionListed), "The sessions that have not ended"),
  });
  app.openapi(listRoute, async (c) => c.json(await listSessions(deps.kysely, ownOf(c)), 200));

  const endRoute = createRoute({
    method: "delete",
    path: "/v1/auth/sessions/{session_id}",
    tags,
    summary: "End a session of the caller",
    description: "From now on, the server refuses the tokens and the cookie of the session.",
    ...rights(deps, "SessionEnd"),
    request: { params: z.object({ session_id: Uuid }) },
    responses: answersNothing("Ended"),
  });
  app.openapi(endRoute, async (c) => {
    const { session_id: id } = c.req.valid("param");
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const own = await listSessions(deps.kysely, ownOf(c));
    // If the caller has no such session, the message goes to a session that does not exist, and the outcome is 404. A
    // repeated request gets the reply of the first request.
    const outcome = own.some((session) => session.id === id)
      ? await deps.send(c, { kind: "session", id }, { type: "end" }, idempotency)
      : await deps.send(c, { kind: "session", id: idempotency.id }, NOT_OWN, idempotency);
    return outcome.ok ? c.body(null, 204) : faultResponse(c, outcome.fault);
  });
}

const NOT_OWN = { type: "refresh", generation: 0, lifetime_s: 0 } as const;

function ownOf(c: Ctx): OwnSessions {
  const { user_id, session_id, key_id, key_tenant_id } = callerOf(c);
  return { user_id, session_id, of_key: key_tenant_id === null ? null : key_id };
}
