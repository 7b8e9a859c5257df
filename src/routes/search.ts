// Defines the route for the search for objects of several kinds. Operators search the fleet and all tenants; other
// callers search their own tenant.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { callerOf } from "../auth/authorize.ts";
import { observes } from "../auth/authorization.ts";
import { wholeNumber } from "../contract/common.ts";
import { SEARCH_KINDS } from "../contract/enums.ts";
import { SEARCH_CHARS_MAX, SEARCH_HITS_DEFAULT, SEARCH_HITS_MAX } from "../contract/limits.ts";
import { SearchHits } from "../contract/search.ts";
import { answers, rights } from "./answer.ts";
import type { App, RouteDeps } from "./deps.ts";

export function searchRoutes(app: App, deps: Pick<RouteDeps, "allow" | "search">): void {
  const searchRoute = createRoute({
    method: "get",
    path: "/v1/search",
    tags: ["Search"],
    summary: "Find objects by name, address or id",
    description:
      "Finds nodes, instances, floating IPs, VPCs, projects, tenants and silos by a part of the name, by the beginning " +
      "of the id, or by a part of an address. Also finds nodes by serial number, MAC address and claim code, and operations and " +
      "jobs by the beginning of the id. Members of a tenant find only the tenant's objects.",
    ...rights(deps, "Search"),
    request: {
      query: z.object({
        q: z.string().min(1).max(SEARCH_CHARS_MAX),
        kind: z.enum(SEARCH_KINDS).optional().describe("Only objects of this kind"),
        limit: wholeNumber(1, SEARCH_HITS_MAX).optional().describe(`Default ${SEARCH_HITS_DEFAULT}`),
      }),
    },
    responses: answers(SearchHits, "The best hits first"),
  });
  app.openapi(searchRoute, async (c) => {
    const { q, kind = null, limit = SEARCH_HITS_DEFAULT } = c.req.valid("query");
    const caller = callerOf(c);
    const tenant_id = observes(caller) ? null : caller.tenant_id;
    if (tenant_id === null && !observes(caller)) return c.json({ items: [] }, 200);
    return c.json({ items: await deps.search({ q, limit, tenant_id, kind }) }, 200);
  });
}
