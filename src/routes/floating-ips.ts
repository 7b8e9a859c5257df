// Defines the routes with which members of a tenant manage the floating IPs of a project (docs/networking.md, "Floating
// IPs").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findFloatingIp, listFloatingIps } from "../../actors/floating-ip/reads.ts";
import { addRealizedOfNics, withRealizedOfNics } from "../../actors/realization/reads.ts";
import { atRow, inProject } from "../auth/resource-scope.ts";
import { page, PageQuery, Uuid } from "../contract/common.ts";
import { badRequest, isFault } from "../contract/fault.ts";
import { LabelQuery } from "../contract/labels.ts";
import { FloatingIp, FloatingIpBody } from "../contract/network.ts";
import { faultResponse } from "../http/fault-status.ts";
import { pageById } from "../http/page.ts";
import { wantedOf } from "../services/address-sources.ts";
import { answers, answersCreated, jsonBody, rights } from "./answer.ts";
import type { App, RouteDeps, Writes } from "./deps.ts";
import { newAddress } from "./new-address.ts";
import { deleteRecord, renameRecord, showRecord } from "./record-routes.ts";

type Deps = Writes & Pick<RouteDeps, "mint">;

const tags = ["Networking"];
const ofProject = z.object({ tenant: Uuid, project: Uuid });

const ONE_SOURCE = badRequest("set exactly one of family, network_id and pool_id");

const floatingIp = {
  kind: "floating-ip",
  tags,
  path: "/v1/floating-ips/{floating_ip_id}",
  params: z.object({ floating_ip_id: Uuid }),
  id: "floating_ip_id",
  schema: FloatingIp,
  described: "The floating IP",
  locate: atRow("floating_ip", "floating_ip_id"),
  has_labels: true,
} as const;

export function floatingIpRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/floating-ips",
    tags,
    summary: "List the floating IPs of a project",
    ...rights(deps, "FloatingIpList", inProject),
    request: { query: ofProject.extend({ label: LabelQuery, ...PageQuery }) },
    responses: answers(page(FloatingIp), "The floating IPs"),
  });
  app.openapi(listRoute, async (c) => {
    const { project: project_id, label: labels, ...query } = c.req.valid("query");
    const result = await pageById(
      query,
      async (at) => addRealizedOfNics(deps.kysely, await listFloatingIps(deps.kysely, { project_id, labels, ...at })),
    );
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const createFloatingIpRoute = createRoute({
    method: "post",
    path: "/v1/floating-ips",
    tags,
    summary: "Allocate a floating IP",
    description:
      "Exactly one of family, network_id and pool_id selects the source. The server allocates the lowest free " +
      "address of the source. In a pool, it uses the first network with a free address; in a network, it uses the " +
      "IPv4 block before the IPv6 block. 409 PoolExhausted if no address is free. The operation floating-ip-allocate " +
      "records the allocation.",
    ...rights(deps, "FloatingIpCreate", inProject),
    request: { query: ofProject, body: jsonBody(FloatingIpBody) },
    responses: answersCreated(FloatingIp, "The floating IP"),
  });
  app.openapi(createFloatingIpRoute, async (c) => {
    const { name, description, labels, ...source } = c.req.valid("json");
    const begun = await newAddress(c, deps, { sources: wantedOf(source), one_source: ONE_SOURCE });
    if (isFault(begun)) return faultResponse(c, begun);
    const { idempotency, fields } = begun;
    const message = { type: "create", ...fields, name, description, labels } as const;
    const outcome = await deps.send(c, { kind: "floating-ip", id: fields.id }, message, idempotency);
    return outcome.ok ? c.json(outcome.reply, 201) : faultResponse(c, outcome.fault);
  });

  showRecord(app, deps, {
    ...floatingIp,
    action: "FloatingIpGet",
    summary: "Show a floating IP",
    find: withRealizedOfNics(findFloatingIp),
  });

  renameRecord(app, deps, {
    ...floatingIp,
    action: "FloatingIpUpdate",
    summary: "Rename, describe or label a floating IP",
  });

  deleteRecord(app, deps, {
    ...floatingIp,
    action: "FloatingIpDelete",
    summary: "Delete a floating IP",
    description:
      "409 while the floating IP is attached, or while a node has not released it. After the deletion, the address " +
      "is free immediately.",
  });
}
