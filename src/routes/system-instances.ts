// Defines the route with which operators list the instances of all tenants.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { listSystemInstances } from "../../actors/instance/reads.ts";
import { page, PageQuery, Uuid } from "../contract/common.ts";
import type { InstanceState } from "../contract/enums.ts";
import { SEARCH_CHARS_MAX } from "../contract/limits.ts";
import { SystemInstance } from "../contract/instance.ts";
import { faultResponse } from "../http/fault-status.ts";
import { pageById } from "../http/page.ts";
import { answers, rights } from "./answer.ts";
import type { App, Reads } from "./deps.ts";
import { StateQuery } from "./instances.ts";

type Deps = Reads;

export function systemInstanceRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/system/instances",
    tags: ["Instances"],
    summary: "List the instances of all tenants",
    description: "Each parameter narrows the list.",
    ...rights(deps, "SystemRead"),
    request: {
      query: z.object({
        image: Uuid.optional(),
        cn: Uuid.optional(),
        tenant: Uuid.optional(),
        q: z.string().max(SEARCH_CHARS_MAX).optional().describe("A part of the name, the UUID or an address"),
        state: StateQuery,
        ...PageQuery,
      }),
    },
    responses: answers(page(SystemInstance), "The instances, oldest first"),
  });
  app.openapi(listRoute, async (c) => {
    const { image: image_id, cn, tenant: tenant_id, q, state, ...query } = c.req.valid("query");
    const filter = { image_id, cn, tenant_id, q, state: state as InstanceState | undefined };
    const result = await pageById(query, (at) => listSystemInstances(deps.kysely, { ...filter, ...at }));
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });
}
