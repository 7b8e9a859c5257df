// Defines the routes for route tables of a VPC (docs/networking.md, "Routes").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findRouteTable, listRouteTables } from "../../actors/route-table/reads.ts";
import { scopeOf } from "../auth/authorize.ts";
import { atRow, inVpc } from "../auth/resource-scope.ts";
import { page, PageQuery, Uuid } from "../contract/common.ts";
import { isFault, NOT_FOUND } from "../contract/fault.ts";
import { LabelQuery } from "../contract/labels.ts";
import { RouteTable, RouteTableBody } from "../contract/network.ts";
import { faultResponse } from "../http/fault-status.ts";
import { pageById } from "../http/page.ts";
import { answers, answersCreated, jsonBody, rights } from "./answer.ts";
import type { App, Writes } from "./deps.ts";
import { deleteRecord, renameRecord, showRecord } from "./record-routes.ts";

type Deps = Writes;

const tags = ["Networking"];
const ofVpc = z.object({ vpc: Uuid, project: Uuid.optional() });

const routeTable = {
  kind: "route-table",
  tags,
  path: "/v1/route-tables/{route_table_id}",
  params: z.object({ route_table_id: Uuid }),
  id: "route_table_id",
  schema: RouteTable,
  described: "The route table",
  locate: atRow("route_table", "route_table_id"),
  has_labels: true,
} as const;

export function routeTableRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/route-tables",
    tags,
    summary: "List the route tables of a VPC",
    description: "In the order of their ids. 404 if `project` is not the project of the VPC.",
    ...rights(deps, "RouteTableList", inVpc),
    request: { query: ofVpc.extend({ label: LabelQuery, ...PageQuery }) },
    responses: answers(page(RouteTable), "The route tables, including the main one"),
  });
  app.openapi(listRoute, async (c) => {
    const { vpc: vpc_id, label: labels, ...query } = c.req.valid("query");
    const result = await pageById(query, (at) => listRouteTables(deps.kysely, { vpc_id, labels, ...at }));
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const createTableRoute = createRoute({
    method: "post",
    path: "/v1/route-tables",
    tags,
    summary: "Create a route table",
    description:
      "The new table is never the main table of its VPC. The table has an effect once a subnet is associated with it.",
    ...rights(deps, "RouteTableCreate", inVpc),
    request: { query: ofVpc, body: jsonBody(RouteTableBody) },
    responses: answersCreated(RouteTable, "The route table"),
  });
  app.openapi(createTableRoute, async (c) => {
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const { tenant_id, project_id } = scopeOf(c);
    if (tenant_id === null || project_id === null) return faultResponse(c, NOT_FOUND);
    const outcome = await deps.send(c, { kind: "route-table", id: idempotency.id }, {
      type: "create",
      id: idempotency.id,
      tenant_id,
      project_id,
      vpc_id: c.req.valid("query").vpc,
      ...c.req.valid("json"),
      is_main: false,
    }, idempotency);
    return outcome.ok ? c.json(outcome.reply, 201) : faultResponse(c, outcome.fault);
  });

  showRecord(app, deps, {
    ...routeTable,
    action: "RouteTableGet",
    summary: "Show a route table",
    find: findRouteTable,
  });

  renameRecord(app, deps, {
    ...routeTable,
    action: "RouteTableUpdate",
    summary: "Rename, describe or label a route table",
    description: "The main table keeps its name.",
  });

  deleteRecord(app, deps, {
    ...routeTable,
    action: "RouteTableDelete",
    summary: "Delete a route table that nothing uses",
    description: "409 for the main table, while the table holds a route, and while a subnet is associated with it.",
  });
}
