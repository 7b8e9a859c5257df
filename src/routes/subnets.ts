// Defines the routes for subnets of a VPC (docs/networking.md).
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findRouteTable } from "../../actors/route-table/reads.ts";
import { findSubnet, listSubnets } from "../../actors/subnet/reads.ts";
import { addRealized, withRealized } from "../../actors/realization/reads.ts";
import { findVpc } from "../../actors/vpc/reads.ts";
import { atRow, inVpc } from "../auth/resource-scope.ts";
import { page, PageQuery, Uuid } from "../contract/common.ts";
import { isFault } from "../contract/fault.ts";
import { LabelQuery } from "../contract/labels.ts";
import { Subnet, SubnetBody, SubnetRouteTableBody } from "../contract/network.ts";
import { faultResponse } from "../http/fault-status.ts";
import { pageById } from "../http/page.ts";
import { answers, answersCreated, jsonBody, rights } from "./answer.ts";
import type { App, Writes } from "./deps.ts";
import { applied, PREFER_WAIT, type Waits } from "./prefer-wait.ts";
import { deleteVpcRecord, NO_PARENT, renameRecord, showRecord } from "./record-routes.ts";

type Deps = Writes & Waits;

const ofVpcId = ({ vpc_id }: { readonly vpc_id: string }) => vpc_id;
const tags = ["Networking"];
const path = "/v1/subnets/{subnet_id}";
const params = z.object({ subnet_id: Uuid });
const ofVpc = z.object({ vpc: Uuid, project: Uuid.optional() });
const atSubnet = atRow("subnet", "subnet_id");

const subnet = {
  kind: "subnet",
  tags,
  path,
  params,
  id: "subnet_id",
  schema: Subnet,
  described: "The subnet",
  locate: atSubnet,
  has_labels: true,
} as const;

export function subnetRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/subnets",
    tags,
    summary: "List the subnets of a VPC, oldest first",
    ...rights(deps, "SubnetList", inVpc),
    request: { query: ofVpc.extend({ label: LabelQuery, ...PageQuery }) },
    responses: answers(page(Subnet), "The subnets"),
  });
  app.openapi(listRoute, async (c) => {
    const { vpc: vpc_id, label: labels, ...query } = c.req.valid("query");
    const result = await pageById(
      query,
      async (at) => addRealized(deps.kysely, await listSubnets(deps.kysely, { vpc_id, labels, ...at }), ofVpcId),
    );
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const createSubnetRoute = createRoute({
    method: "post",
    path: "/v1/subnets",
    tags,
    summary: "Create a subnet",
    description:
      "The subnet needs at least one block. Each block must be inside the VPC's block of its family and overlap no " +
      "other subnet. The subnet starts with the main route table of the VPC.",
    ...rights(deps, "SubnetCreate", inVpc),
    request: { query: ofVpc, headers: PREFER_WAIT, body: jsonBody(SubnetBody) },
    responses: answersCreated(Subnet, "The subnet"),
  });
  app.openapi(createSubnetRoute, async (c) => {
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const vpc = await findVpc(deps.kysely, c.req.valid("query").vpc);
    const message = vpc === undefined ? NO_PARENT : {
      type: "create",
      id: idempotency.id,
      tenant_id: vpc.tenant_id,
      project_id: vpc.project_id,
      vpc_id: vpc.id,
      route_table_id: vpc.main_route_table_id,
      ...c.req.valid("json"),
      plan: { ipv4_block: vpc.ipv4_block, ipv6_block: vpc.ipv6_block },
    } as const;
    const outcome = await deps.send(c, { kind: "subnet", id: idempotency.id }, message, idempotency);
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    return c.json({ ...outcome.reply, realized: await applied(c, deps, outcome.reply.vpc_id) }, 201);
  });

  showRecord(app, deps, {
    ...subnet,
    action: "SubnetGet",
    summary: "Show a subnet",
    find: withRealized(findSubnet, ofVpcId),
  });

  renameRecord(app, deps, {
    ...subnet,
    action: "SubnetUpdate",
    summary: "Rename, describe or label a subnet",
  });

  const tableRoute = createRoute({
    method: "put",
    path: `${path}/route-table`,
    tags,
    summary: "Associate a subnet with another route table of its VPC",
    ...rights(deps, "SubnetUpdate", atSubnet),
    request: { params, headers: PREFER_WAIT, body: jsonBody(SubnetRouteTableBody) },
    responses: answers(Subnet, "The subnet"),
  });
  app.openapi(tableRoute, async (c) => {
    const to = { kind: "subnet" as const, id: c.req.valid("param").subnet_id };
    const found = await findRouteTable(deps.kysely, c.req.valid("json").route_table_id);
    const table = found === undefined
      ? null
      : { id: found.id, tenant_id: found.tenant_id, project_id: found.project_id, vpc_id: found.vpc_id };
    const outcome = await deps.sendOnce(c, to, { type: "use_route_table", table });
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    return c.json({ ...outcome.reply, realized: await applied(c, deps, outcome.reply.vpc_id) }, 200);
  });

  deleteVpcRecord(app, deps, {
    ...subnet,
    action: "SubnetDelete",
    summary: "Delete a subnet that holds nothing",
    find: findSubnet,
  });
}
