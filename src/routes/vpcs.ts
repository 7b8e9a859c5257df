// Defines the routes for VPCs of a project (docs/networking.md).
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { addRealized, withRealized } from "../../actors/realization/reads.ts";
import { findVpc, listVpcs } from "../../actors/vpc/reads.ts";
import { scopeOf } from "../auth/authorize.ts";
import { atRow, inProject } from "../auth/resource-scope.ts";
import { page, PageQuery, Uuid } from "../contract/common.ts";
import { isFault, NOT_FOUND } from "../contract/fault.ts";
import { LabelQuery } from "../contract/labels.ts";
import { Vpc, VpcBody } from "../contract/network.ts";
import { faultResponse } from "../http/fault-status.ts";
import { pageById } from "../http/page.ts";
import { answers, answersCreated, jsonBody, rights } from "./answer.ts";
import type { App, RouteDeps, Writes } from "./deps.ts";
import { deleteRecord, renameRecord, showRecord } from "./record-routes.ts";

type Deps = Writes & Pick<RouteDeps, "mint">;

const ofVpcId = ({ id }: { readonly id: string }) => id;
const tags = ["Networking"];
const ofProject = z.object({ tenant: Uuid, project: Uuid });

const vpc = {
  kind: "vpc",
  tags,
  path: "/v1/vpcs/{vpc_id}",
  params: z.object({ vpc_id: Uuid }),
  id: "vpc_id",
  schema: Vpc,
  described: "The VPC",
  locate: atRow("vpc", "vpc_id"),
  has_labels: true,
} as const;

export function vpcRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/vpcs",
    tags,
    summary: "List the VPCs of a project, oldest first",
    ...rights(deps, "VpcList", inProject),
    request: { query: ofProject.extend({ label: LabelQuery, ...PageQuery }) },
    responses: answers(page(Vpc), "The VPCs"),
  });
  app.openapi(listRoute, async (c) => {
    const { project: project_id, label: labels, ...query } = c.req.valid("query");
    const result = await pageById(
      query,
      async (at) => addRealized(deps.kysely, await listVpcs(deps.kysely, { project_id, labels, ...at }), ofVpcId),
    );
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const createVpcRoute = createRoute({
    method: "post",
    path: "/v1/vpcs",
    tags,
    summary: "Create a VPC and its route table named main",
    description:
      "The VPC needs at least one block. The server chooses the VNI. Blocks of different VPCs may overlap. 400 for a " +
      "block of all addresses, and for a block of only loopback, link-local, multicast, unspecified or metadata " +
      "service addresses.",
    ...rights(deps, "VpcCreate", inProject),
    request: { query: ofProject, body: jsonBody(VpcBody) },
    responses: answersCreated(Vpc, "The VPC"),
  });
  app.openapi(createVpcRoute, async (c) => {
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const { tenant_id, project_id } = scopeOf(c);
    if (tenant_id === null || project_id === null) return faultResponse(c, NOT_FOUND);
    const outcome = await deps.send(c, { kind: "vpc", id: idempotency.id }, {
      type: "create",
      id: idempotency.id,
      tenant_id,
      project_id,
      ...c.req.valid("json"),
      main_route_table_id: deps.mint.idFrom(idempotency.id, "main-route-table"),
      vnis: deps.mint.vnis(idempotency.id),
    }, idempotency);
    return outcome.ok ? c.json(outcome.reply, 201) : faultResponse(c, outcome.fault);
  });

  showRecord(app, deps, {
    ...vpc,
    action: "VpcGet",
    summary: "Show a VPC",
    find: withRealized(findVpc, ofVpcId),
  });

  renameRecord(app, deps, {
    ...vpc,
    action: "VpcUpdate",
    summary: "Rename, describe or label a VPC",
  });

  deleteRecord(app, deps, {
    ...vpc,
    action: "VpcDelete",
    summary: "Delete a VPC that holds nothing, and its main route table",
    description:
      "409 while the VPC holds an object other than its main route table; the message names up to five such objects.",
  });
}
