// Defines the routes for port forwards of NAT gateways (docs/networking.md, "Port forwards").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findNic } from "../../actors/instance/reads.ts";
import { findNatGateway } from "../../actors/nat-gateway/reads.ts";
import { findPortForward, listPortForwards } from "../../actors/port-forward/reads.ts";
import { addRealized, withRealized } from "../../actors/realization/reads.ts";
import { findVpc } from "../../actors/vpc/reads.ts";
import { atRow, inVpc } from "../auth/resource-scope.ts";
import { page, PageQuery, Uuid } from "../contract/common.ts";
import { isFault } from "../contract/fault.ts";
import type { Nic } from "../contract/instance.ts";
import { PORT_FORWARDS_MAX } from "../contract/limits.ts";
import { LabelQuery } from "../contract/labels.ts";
import { PortForward, PortForwardBody } from "../contract/port-forward.ts";
import { faultResponse } from "../http/fault-status.ts";
import { pageById } from "../http/page.ts";
import { answers, answersCreated, jsonBody, rights } from "./answer.ts";
import type { App, Writes } from "./deps.ts";
import { applied, PREFER_WAIT, type Waits } from "./prefer-wait.ts";
import { deleteVpcRecord, NO_PARENT, renameRecord, showRecord } from "./record-routes.ts";

type Deps = Writes & Waits;

const ofVpcId = ({ vpc_id }: { readonly vpc_id: string }) => vpc_id;
const tags = ["Networking"];
const ofVpc = z.object({ vpc: Uuid, project: Uuid.optional().describe("Must be the project of the VPC") });

const portForward = {
  kind: "port-forward",
  tags,
  path: "/v1/port-forwards/{port_forward_id}",
  params: z.object({ port_forward_id: Uuid }),
  id: "port_forward_id",
  schema: PortForward,
  described: "The port forward",
  locate: atRow("port_forward", "port_forward_id"),
  has_labels: true,
} as const;

export function portForwardRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/port-forwards",
    tags,
    summary: "List the port forwards of a VPC, oldest first",
    ...rights(deps, "PortForwardList", inVpc),
    request: { query: ofVpc.extend({ label: LabelQuery, ...PageQuery }) },
    responses: answers(page(PortForward), "The port forwards"),
  });
  app.openapi(listRoute, async (c) => {
    const { vpc: vpc_id, label: labels, ...query } = c.req.valid("query");
    const result = await pageById(
      query,
      async (at) => addRealized(deps.kysely, await listPortForwards(deps.kysely, { vpc_id, labels, ...at }), ofVpcId),
    );
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const createForwardRoute = createRoute({
    method: "post",
    path: "/v1/port-forwards",
    tags,
    summary: "Create a port forward",
    description:
      "Connections to a port of the NAT gateway's public address go to a port of the NIC. A firewall rule must allow " +
      "these connections; it is compared with the client's address and the NIC's port. The NIC can answer only if " +
      "the route table of its subnet leads to this gateway, and if the NIC has no floating IP of the family. 409 if " +
      `the gateway already forwards the port, or has ${PORT_FORWARDS_MAX} port forwards, or if the NIC has no ` +
      "address of the gateway's family.",
    ...rights(deps, "PortForwardCreate", inVpc),
    request: { query: ofVpc, headers: PREFER_WAIT, body: jsonBody(PortForwardBody) },
    responses: answersCreated(PortForward, "The port forward"),
  });
  app.openapi(createForwardRoute, async (c) => {
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const vpc = await findVpc(deps.kysely, c.req.valid("query").vpc);
    const { nic_port, ...body } = c.req.valid("json");
    const [gateway, nic] = await Promise.all([
      findNatGateway(deps.kysely, body.nat_gateway_id),
      findNic(deps.kysely, body.nic_id),
    ]);
    const message = vpc === undefined ? NO_PARENT : {
      type: "create",
      id: idempotency.id,
      tenant_id: vpc.tenant_id,
      project_id: vpc.project_id,
      vpc_id: vpc.id,
      ...body,
      nic_port: nic_port ?? body.public_port,
      gateway: gateway === undefined ? null : { ...placeOf(gateway), family: gateway.family },
      nic: nic === undefined ? null : { ...placeOf(nic), families: familiesOf(nic) },
    } as const;
    const outcome = await deps.send(c, { kind: "port-forward", id: idempotency.id }, message, idempotency);
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    return c.json({ ...outcome.reply, realized: await applied(c, deps, outcome.reply.vpc_id) }, 201);
  });

  showRecord(app, deps, {
    ...portForward,
    action: "PortForwardGet",
    summary: "Show a port forward",
    find: withRealized(findPortForward, ofVpcId),
  });

  renameRecord(app, deps, {
    ...portForward,
    action: "PortForwardUpdate",
    summary: "Rename, describe or label a port forward",
  });

  deleteVpcRecord(app, deps, {
    ...portForward,
    action: "PortForwardDelete",
    summary: "Delete a port forward",
    find: findPortForward,
  });
}

type Place = { readonly tenant_id: string; readonly project_id: string; readonly vpc_id: string };

/**
 * Returns the tenant, project and VPC of a gateway or a NIC. They never change, so a decision may use them although
 * they were read before the commit.
 */
function placeOf({ tenant_id, project_id, vpc_id }: Place): Place {
  return { tenant_id, project_id, vpc_id };
}

function familiesOf({ primary_ipv4, primary_ipv6 }: Nic) {
  return [...(primary_ipv4 === null ? [] : ["v4" as const]), ...(primary_ipv6 === null ? [] : ["v6" as const])];
}
