// Instances of all tenants, for operators.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { listInstances } from "../../actors/instance/reads.ts";
import { page, PageQuery, Uuid } from "../contract/common.ts";
import type { InstanceState } from "../contract/enums.ts";
import { fault } from "../contract/fault.ts";
import { Instance } from "../contract/instance.ts";
import { faultResponse } from "../http/fault-status.ts";
import { pageById } from "../http/page.ts";
import { answers, rights } from "./answer.ts";
import type { App, Reads } from "./deps.ts";
import { StateQuery } from "./instances.ts";

type Deps = Reads;

const MISSING = fault(
  "bad_request",
  "GET /v1/system/instances requires `?image=<uuid>` or `?cn=<uuid>`; there is no list of the whole fleet",
  { error_code: "MissingScope" },
);

export function systemInstanceRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/system/instances",
    tags: ["Instances"],
    summary: "List the instances of an image or on a node, of all tenants",
    description: "Requires `image` or `cn`; both narrow the list.",
    ...rights(deps, "SystemRead"),
    request: {
      query: z.object({ image: Uuid.optional(), cn: Uuid.optional(), state: StateQuery, ...PageQuery }),
    },
    responses: answers(page(Instance), "The instances, oldest first"),
  });
  app.openapi(listRoute, async (c) => {
    const { image: image_id, cn, state, ...query } = c.req.valid("query");
    if (image_id === undefined && cn === undefined) return faultResponse(c, MISSING);
    const filter = { image_id, cn, state: state as InstanceState | undefined };
    const result = await pageById(query, (at) => listInstances(deps.kysely, { ...filter, ...at }));
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });
}
