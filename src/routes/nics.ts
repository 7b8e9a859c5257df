// Defines the routes for NICs of instances, with their addresses.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findNic, listNics } from "../../actors/instance/reads.ts";
import { addRealized, findRealized } from "../../actors/realization/reads.ts";
import { callerOf } from "../auth/authorize.ts";
import { observes } from "../auth/authorization.ts";
import { atRow, ofNics } from "../auth/resource-scope.ts";
import { page, PageQuery, Uuid } from "../contract/common.ts";
import { badRequest, NOT_FOUND } from "../contract/fault.ts";
import { Nic } from "../contract/instance.ts";
import { LabelQuery } from "../contract/labels.ts";
import { faultResponse } from "../http/fault-status.ts";
import { pageById } from "../http/page.ts";
import { formatIp, parseIp } from "../lib/net/ip-address.ts";
import { answers, rights } from "./answer.ts";
import type { App, Reads } from "./deps.ts";

type Deps = Reads;

const ofVpcId = ({ vpc_id }: Nic) => vpc_id;
const tags = ["Instances"];

export function nicRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/nics",
    tags,
    summary: "List NICs by address, subnet, instance or project",
    description:
      "Requires `ip`, `subnet`, `instance`, or `tenant` and `project`. Each further parameter narrows the list. " +
      "Members of a tenant see only the tenant's NICs; users with system-read see all.",
    ...rights(deps, "NicList", ofNics),
    request: {
      query: z.object({
        ip: z.string().max(64).optional().describe("IPv4 or IPv6"),
        subnet: Uuid.optional(),
        instance: Uuid.optional(),
        tenant: Uuid.optional(),
        project: Uuid.optional(),
        label: LabelQuery,
        ...PageQuery,
      }),
    },
    responses: answers(page(Nic), "The NICs"),
  });
  app.openapi(listRoute, async (c) => {
    const { ip: text, subnet: subnet_id, instance: instance_id, tenant, project, ...rest } = c.req.valid("query");
    const { label: labels, ...query } = rest;
    const ip = text === undefined ? undefined : parseIp(text);
    if (ip === null) return faultResponse(c, badRequest(`ip: must be an IPv4 or IPv6 address, not ${text}`));
    const caller = callerOf(c);
    const own = observes(caller) ? undefined : caller.tenant_id ?? undefined;
    if (own !== undefined && tenant !== undefined && tenant !== own) return c.json({ items: [] }, 200);
    const filter = {
      ip: ip && formatIp(ip),
      subnet_id,
      instance_id,
      tenant_id: own ?? tenant,
      project_id: project,
      labels,
    };
    const result = await pageById(
      query,
      async (at) => addRealized(deps.kysely, await listNics(deps.kysely, { ...filter, ...at }), ofVpcId),
    );
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const showRoute = createRoute({
    method: "get",
    path: "/v1/nics/{nic_id}",
    tags,
    summary: "Show a NIC",
    ...rights(deps, "NicGet", atRow("nic", "nic_id")),
    request: { params: z.object({ nic_id: Uuid }) },
    responses: answers(Nic, "The NIC"),
  });
  app.openapi(showRoute, async (c) => {
    const found = await findNic(deps.byKey, c.req.valid("param").nic_id);
    if (found === undefined) return faultResponse(c, NOT_FOUND);
    const realized = (await findRealized(deps.kysely, [found.vpc_id])).get(found.vpc_id) ?? null;
    return c.json({ ...found, realized }, 200);
  });
}
