// Defines the routes with which members of a tenant manage the NAT gateways of a VPC (docs/networking.md).
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findNatGateway, listNatGateways } from "../../actors/nat-gateway/reads.ts";
import { addRealized, withRealized } from "../../actors/realization/reads.ts";
import { atRow, inVpc } from "../auth/resource-scope.ts";
import { page, PageQuery, Uuid } from "../contract/common.ts";
import { badRequest, isFault } from "../contract/fault.ts";
import { LabelQuery } from "../contract/labels.ts";
import { NatGateway, NatGatewayBody, type Realized } from "../contract/network.ts";
import { faultResponse } from "../http/fault-status.ts";
import { pageById } from "../http/page.ts";
import { wantedOfGateway } from "../services/address-sources.ts";
import { answers, answersCreated, answersNothing, jsonBody, rights } from "./answer.ts";
import type { App, RouteDeps, Writes } from "./deps.ts";
import { newAddress } from "./new-address.ts";
import { applied, PREFER_WAIT, prefersWait, type Waits } from "./prefer-wait.ts";
import { renameRecord, showRecord } from "./record-routes.ts";

type Deps = Writes & Pick<RouteDeps, "mint"> & Waits;

const ofVpcId = ({ vpc_id }: { readonly vpc_id: string }) => vpc_id;
/** Reports a gateway without a node as not applied. */
const unhosted = ({ host_cn_uuid }: NatGateway, realized: Realized): Realized =>
  host_cn_uuid === null ? { ...realized, applied_generation: null } : realized;
const ONE_SOURCE = badRequest("set at most one of network_id and pool_id");

const tags = ["Networking"];
const path = "/v1/nat-gateways/{nat_gateway_id}";
const params = z.object({ nat_gateway_id: Uuid });
const ofVpc = z.object({ vpc: Uuid, project: Uuid.optional().describe("Must be the project of the VPC") });
const atGateway = atRow("nat_gateway", "nat_gateway_id");

const natGateway = {
  kind: "nat-gateway",
  tags,
  path,
  params,
  id: "nat_gateway_id",
  schema: NatGateway,
  described: "The gateway",
  locate: atGateway,
  has_labels: true,
} as const;

export function natGatewayRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/nat-gateways",
    tags,
    summary: "List the NAT gateways of a VPC",
    ...rights(deps, "NatGatewayList", inVpc),
    request: { query: ofVpc.extend({ label: LabelQuery, ...PageQuery }) },
    responses: answers(page(NatGateway), "The gateways"),
  });
  app.openapi(listRoute, async (c) => {
    const { vpc: vpc_id, label: labels, ...query } = c.req.valid("query");
    const result = await pageById(
      query,
      async (at) =>
        addRealized(deps.kysely, await listNatGateways(deps.kysely, { vpc_id, labels, ...at }), ofVpcId, unhosted),
    );
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const createGatewayRoute = createRoute({
    method: "post",
    path: "/v1/nat-gateways",
    tags,
    summary: "Create a NAT gateway",
    description:
      "At most one of network_id and pool_id selects the source of the address. Without both, the source is the fixed " +
      "pool of `family` (default: v4). The server allocates the lowest free address of the source. In a pool, " +
      "it uses the first network with a free address; in a network, it uses the IPv4 block before the IPv6 block. With " +
      "family, it uses only blocks of this family. The gateway has the family of its address. 400 if the network has no " +
      "block of the family; 400 SubnetNotExternal if network_id is a subnet of a VPC of the tenant; 404 if the network " +
      "or the pool does not exist or is reserved for other silos; 409 PoolExhausted if no address is free. The operation nat-gateway-create records the creation. With " +
      "`Prefer: wait`, the request also waits until an edge node runs the gateway.",
    ...rights(deps, "NatGatewayCreate", inVpc),
    request: { query: ofVpc, headers: PREFER_WAIT, body: jsonBody(NatGatewayBody) },
    responses: answersCreated(NatGateway, "The gateway"),
  });
  app.openapi(createGatewayRoute, async (c) => {
    const { name, description, labels, ...source } = c.req.valid("json");
    const begun = await newAddress(c, deps, { sources: wantedOfGateway(source), one_source: ONE_SOURCE });
    if (isFault(begun)) return faultResponse(c, begun);
    const { idempotency, fields } = begun;
    const message = { type: "create", ...fields, vpc_id: c.req.valid("query").vpc, name, description, labels } as const;
    const outcome = await deps.send(c, { kind: "nat-gateway", id: fields.id }, message, idempotency);
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    const realized = await applied(c, deps, outcome.reply.vpc_id, { nat_gateway_id: outcome.reply.id });
    if (realized === null) return c.json(outcome.reply, 201);
    const gateway = await deps.findOne(findNatGateway, outcome.reply.id) ?? outcome.reply;
    return c.json({ ...gateway, realized: unhosted(gateway, realized) }, 201);
  });

  showRecord(app, deps, {
    ...natGateway,
    action: "NatGatewayGet",
    summary: "Show a NAT gateway",
    find: withRealized(findNatGateway, ofVpcId, unhosted),
  });

  renameRecord(app, deps, {
    ...natGateway,
    action: "NatGatewayUpdate",
    summary: "Rename, describe or label a NAT gateway",
  });

  const deleteRoute = createRoute({
    method: "delete",
    path,
    tags,
    summary: "Delete a NAT gateway",
    description:
      "409 while a route targets the gateway or the gateway has a port forward. The address is free again when no " +
      "node can still run the gateway. The operation nat-gateway-delete records the deletion.",
    ...rights(deps, "NatGatewayDelete", atGateway),
    request: { params, headers: PREFER_WAIT },
    responses: answersNothing("Deleted"),
  });
  app.openapi(deleteRoute, async (c) => {
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const to = { kind: "nat-gateway" as const, id: c.req.valid("param").nat_gateway_id };
    const message = { type: "delete", operation_id: deps.mint.idFrom(idempotency.id, "operation") } as const;
    const before = prefersWait(c) ? await deps.findOne(findNatGateway, to.id) : null;
    const outcome = await deps.send(c, to, message, idempotency);
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    if (before !== null) await applied(c, deps, before.vpc_id);
    return c.body(null, 204);
  });
}
