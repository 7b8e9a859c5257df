// Defines the route for the feed of changes (docs/web-console.md, "Changes"). Operators see all changes; other callers
// see the changes of their own tenant, silo and user, and of public records.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import type { ActorRef } from "../../actors/engine/types.ts";
import { callerOf } from "../auth/authorize.ts";
import { observes } from "../auth/authorization.ts";
import type { KnownPrincipal } from "../auth/principal.ts";
import { Changes } from "../contract/changes.ts";
import { wholeNumber } from "../contract/common.ts";
import { isFault } from "../contract/fault.ts";
import { CHANGES_CURSOR_CHARS_MAX, CHANGES_WAIT_S_MAX } from "../contract/limits.ts";
import { faultResponse } from "../http/fault-status.ts";
import { answers, rights } from "./answer.ts";
import type { App, RouteDeps } from "./deps.ts";
import { hold } from "./long-poll.ts";

type Deps = Pick<RouteDeps, "allow" | "audiencesOf" | "changes" | "holdShares">;

export function changeRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/changes",
    tags: ["Changes"],
    summary: "Wait for changes of objects that the caller may see",
    description:
      "Without `after`, the answer is the current cursor. With `after`, the request waits until an object changes, " +
      "at most `wait` seconds. A heartbeat is not a change. A change may be lost, so also read the objects again " +
      "from time to time.",
    ...rights(deps, "ChangesList"),
    request: {
      query: z.object({
        after: z.string().min(1).max(CHANGES_CURSOR_CHARS_MAX).optional().describe("`cursor` of the previous answer"),
        wait: wholeNumber(0, CHANGES_WAIT_S_MAX).optional().describe("Default 0"),
      }),
    },
    responses: answers(Changes, "The changes, each object once"),
  });
  app.openapi(listRoute, async (c) => {
    const { after, wait = 0 } = c.req.valid("query");
    // The rights may change during the wait, so an answer is filtered by the rights at the end of the wait.
    const visible = async (refs: readonly ActorRef[]) => {
      const lost = await c.get("checkAgain")?.() ?? null;
      return lost === null ? await visibleTo(callerOf(c), refs) : null;
    };
    const polls = {
      wait: (_key: string, hold_ms: number, signal: AbortSignal) =>
        deps.changes.wait(after, { hold_ms, signal, visible }),
    };
    const held = await hold(c, deps, { polls, key: after ?? "", hold_ms: wait * 1_000 });
    if (isFault(held)) return faultResponse(c, held);
    const { cursor = "", refs = [], reset = true } = held.found ?? {};
    return c.json({ cursor, refs: [...refs], reset }, 200);
  });

  async function visibleTo(caller: KnownPrincipal, refs: readonly ActorRef[]): Promise<readonly ActorRef[]> {
    if (observes(caller)) return refs;
    const own = new Set([
      "public",
      `silo:${caller.home_silo_id}`,
      `tenant:${caller.tenant_id}`,
      ...(caller.key_tenant_id === null ? [`user:${caller.user_id}`] : []),
    ]);
    const audiences = await deps.audiencesOf(refs);
    return refs.filter((_ref, at) => audiences[at]?.some((each) => own.has(each)));
  }
}
