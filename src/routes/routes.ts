// Defines the API routes for the network routes of a route table (docs/networking.md, "Routes").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findNatGateway } from "../../actors/nat-gateway/reads.ts";
import { findRoute, listRoutes } from "../../actors/route/reads.ts";
import { findRouteTable } from "../../actors/route-table/reads.ts";
import { addRealized, withRealized } from "../../actors/realization/reads.ts";
import { findVpc } from "../../actors/vpc/reads.ts";
import { atRow, inRouteTable } from "../auth/resource-scope.ts";
import { page, PageQuery, Uuid } from "../contract/common.ts";
import { isFault } from "../contract/fault.ts";
import { LabelQuery } from "../contract/labels.ts";
import { type NatGateway, Route, RouteBody } from "../contract/network.ts";
import { faultResponse } from "../http/fault-status.ts";
import { pageById } from "../http/page.ts";
import { answers, answersCreated, jsonBody, rights } from "./answer.ts";
import type { App, Writes } from "./deps.ts";
import { applied, PREFER_WAIT, type Waits } from "./prefer-wait.ts";
import { deleteVpcRecord, NO_PARENT, renameRecord, showRecord } from "./record-routes.ts";

type Deps = Writes & Waits;

const ofVpcId = ({ vpc_id }: { readonly vpc_id: string }) => vpc_id;
const tags = ["Networking"];
const ofTable = z.object({ route_table: Uuid });

const route = {
  kind: "route",
  tags,
  path: "/v1/routes/{route_id}",
  params: z.object({ route_id: Uuid }),
  id: "route_id",
  schema: Route,
  described: "The route",
  locate: atRow("route", "route_id"),
  has_labels: true,
} as const;

export function routeRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/routes",
    tags,
    summary: "List the routes of a route table, oldest first",
    ...rights(deps, "RouteList", inRouteTable),
    request: { query: ofTable.extend({ label: LabelQuery, ...PageQuery }) },
    responses: answers(page(Route), "The routes"),
  });
  app.openapi(listRoute, async (c) => {
    const { route_table: route_table_id, label: labels, ...query } = c.req.valid("query");
    const result = await pageById(
      query,
      async (at) => addRealized(deps.kysely, await listRoutes(deps.kysely, { route_table_id, labels, ...at }), ofVpcId),
    );
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const createRouteRoute = createRoute({
    method: "post",
    path: "/v1/routes",
    tags,
    summary: "Create a route",
    description:
      "The VPC must have a block of the family of the destination. No other route of the table may have the " +
      "same destination. A NAT gateway must belong to the same VPC.",
    ...rights(deps, "RouteCreate", inRouteTable),
    request: { query: ofTable, headers: PREFER_WAIT, body: jsonBody(RouteBody) },
    responses: answersCreated(Route, "The route"),
  });
  app.openapi(createRouteRoute, async (c) => {
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const body = c.req.valid("json");
    const table = await findRouteTable(deps.kysely, c.req.valid("query").route_table);
    const vpc = table && await findVpc(deps.kysely, table.vpc_id);
    const { target } = body;
    const gateway = target.kind === "nat_gateway"
      ? await findNatGateway(deps.kysely, target.nat_gateway_id)
      : undefined;
    const message = table === undefined || vpc === undefined ? NO_PARENT : {
      type: "create",
      id: idempotency.id,
      tenant_id: table.tenant_id,
      project_id: table.project_id,
      vpc_id: table.vpc_id,
      route_table_id: table.id,
      ...body,
      gateway: gateway === undefined ? null : factsOf(gateway),
      plan: { ipv4_block: vpc.ipv4_block, ipv6_block: vpc.ipv6_block },
    } as const;
    const outcome = await deps.send(c, { kind: "route", id: idempotency.id }, message, idempotency);
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    return c.json({ ...outcome.reply, realized: await applied(c, deps, outcome.reply.vpc_id) }, 201);
  });

  showRecord(app, deps, {
    ...route,
    action: "RouteGet",
    summary: "Show a route",
    find: withRealized(findRoute, ofVpcId),
  });

  renameRecord(app, deps, {
    ...route,
    action: "RouteUpdate",
    summary: "Rename, describe or label a route",
  });

  deleteVpcRecord(app, deps, {
    ...route,
    action: "RouteDelete",
    summary: "Delete a route",
    find: findRoute,
  });
}

/**
 * Returns the scope of a NAT gateway. The scope never changes, so a decision may use a scope that was read before the
 * commit.
 */
function factsOf({ tenant_id, project_id, vpc_id }: NatGateway) {
  return { tenant_id, project_id, vpc_id };
}
