// Routes of a route table. Document 3, Networking.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findNatGateway } from "../../actors/nat-gateway/reads.ts";
import { findRoute, listRoutes } from "../../actors/route/reads.ts";
import { findRouteTable } from "../../actors/route-table/reads.ts";
import { findVpc } from "../../actors/vpc/reads.ts";
import { atRow, inRouteTable } from "../auth/resource-scope.ts";
import { page, PageQuery, Uuid } from "../contract/common.ts";
import { NOT_FOUND } from "../contract/fault.ts";
import { type NatGateway, Route, RouteBody } from "../contract/network.ts";
import { NamedPatch } from "../contract/tenancy.ts";
import { faultResponse } from "../http/fault-status.ts";
import { pageById } from "../http/page.ts";
import { answers, answersCreated, answersNothing, jsonBody, rights } from "./answer.ts";
import { type App, type RouteDeps } from "./deps.ts";
import { isFault } from "../contract/fault.ts";

const tags = ["Networking"];
const path = "/v1/routes/{route_id}";
const params = z.object({ route_id: Uuid });
const ofTable = z.object({ route_table: Uuid });
const atRoute = atRow("route", "route_id");

export function routeRoutes(app: App, deps: RouteDeps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/routes",
    tags,
    summary: "List the routes of a route table, oldest first",
    ...rights(deps, "RouteList", inRouteTable),
    request: { query: ofTable.extend(PageQuery) },
    responses: answers(page(Route), "The routes"),
  });
  app.openapi(listRoute, async (c) => {
    const { route_table: route_table_id, ...query } = c.req.valid("query");
    const result = await pageById(query, (at) => listRoutes(deps.kysely, { route_table_id, ...at }));
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const createRouteRoute = createRoute({
    method: "post",
    path: "/v1/routes",
    tags,
    summary: "Make a route",
    description: "The destination must be of a family that the VPC has a block of, and another one than those of the " +
      "table's other routes. A NAT gateway must be one of the same VPC.",
    ...rights(deps, "RouteCreate", inRouteTable),
    request: { query: ofTable, body: jsonBody(RouteBody) },
    responses: answersCreated(Route, "The route"),
  });
  app.openapi(createRouteRoute, async (c) => {
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const body = c.req.valid("json");
    const table = await findRouteTable(deps.kysely, c.req.valid("query").route_table);
    const vpc = table && await findVpc(deps.kysely, table.vpc_id);
    if (table === undefined || vpc === undefined) return faultResponse(c, NOT_FOUND);
    const { target } = body;
    const gateway = target.kind === "nat_gateway"
      ? await findNatGateway(deps.kysely, target.nat_gateway_id)
      : undefined;
    const outcome = await deps.send(c, { kind: "route", id: idempotency.id }, {
      type: "create",
      id: idempotency.id,
      tenant_id: table.tenant_id,
      project_id: table.project_id,
      vpc_id: table.vpc_id,
      route_table_id: table.id,
      ...body,
      gateway: gateway === undefined ? null : factsOf(gateway),
      plan: { ipv4_block: vpc.ipv4_block, ipv6_block: vpc.ipv6_block },
    }, idempotency);
    return outcome.ok ? c.json(outcome.reply as Route, 201) : faultResponse(c, outcome.fault);
  });

  const showRoute = createRoute({
    method: "get",
    path,
    tags,
    summary: "Show a route",
    ...rights(deps, "RouteGet", atRoute),
    request: { params },
    responses: answers(Route, "The route"),
  });
  app.openapi(showRoute, async (c) => {
    const found = await findRoute(deps.kysely, c.req.valid("param").route_id);
    return found === undefined ? faultResponse(c, NOT_FOUND) : c.json(found, 200);
  });

  const updateRoute = createRoute({
    method: "patch",
    path,
    tags,
    summary: "Rename or describe a route",
    ...rights(deps, "RouteUpdate", atRoute),
    request: { params, body: jsonBody(NamedPatch) },
    responses: answers(Route, "The route"),
  });
  app.openapi(updateRoute, async (c) => {
    const { name, description } = c.req.valid("json");
    const to = { kind: "route" as const, id: c.req.valid("param").route_id };
    const outcome = await deps.sendOnce(c, to, {
      type: "update",
      name: name ?? null,
      description: description ?? null,
    });
    return outcome.ok ? c.json(outcome.reply as Route, 200) : faultResponse(c, outcome.fault);
  });

  const deleteRoute = createRoute({
    method: "delete",
    path,
    tags,
    summary: "Delete a route",
    ...rights(deps, "RouteDelete", atRoute),
    request: { params },
    responses: answersNothing("Deleted"),
  });
  app.openapi(deleteRoute, async (c) => {
    const outcome = await deps.sendOnce(c, { kind: "route", id: c.req.valid("param").route_id }, { type: "delete" });
    return outcome.ok ? c.body(null, 204) : faultResponse(c, outcome.fault);
  });
}

/** What a decision may rest on although it was read before: none of it ever changes. */
function factsOf({ tenant_id, project_id, vpc_id }: NatGateway) {
  return { tenant_id, project_id, vpc_id };
}
