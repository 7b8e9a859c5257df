// Defines the routes with which operators manage network pools. A network pool is a list of external subnets that
// tenants use like one subnet (docs/networking.md).
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findNetworkPool, listNetworkPools } from "../../actors/network-pool/reads.ts";
import { page, PageQuery, Uuid } from "../contract/common.ts";
import { NetworkPool, NetworkPoolBody } from "../contract/external-network.ts";
import { isFault } from "../contract/fault.ts";
import { faultResponse } from "../http/fault-status.ts";
import { pageById } from "../http/page.ts";
import { answers, answersCreated, jsonBody, rights } from "./answer.ts";
import type { App, Writes } from "./deps.ts";
import { deleteRecord, showRecord } from "./record-routes.ts";

type Deps = Writes;

const tags = ["External networks"];
const path = "/v1/system/network-pools/{network_pool_id}";
const params = z.object({ network_pool_id: Uuid });

const networkPool = {
  kind: "network-pool",
  tags,
  path,
  params,
  id: "network_pool_id",
  schema: NetworkPool,
  described: "The pool",
} as const;

export function networkPoolRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/system/network-pools",
    tags,
    summary: "List network pools",
    ...rights(deps, "SystemRead"),
    request: { query: z.object(PageQuery) },
    responses: answers(page(NetworkPool), "The pools"),
  });
  app.openapi(listRoute, async (c) => {
    const result = await pageById(c.req.valid("query"), (at) => listNetworkPools(deps.kysely, at));
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const createPoolRoute = createRoute({
    method: "post",
    path: "/v1/system/network-pools",
    tags,
    summary: "Create a network pool",
    ...rights(deps, "SystemConfigWrite"),
    request: { body: jsonBody(NetworkPoolBody) },
    responses: answersCreated(NetworkPool, "The pool"),
  });
  app.openapi(createPoolRoute, async (c) => {
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const message = { type: "create", id: idempotency.id, ...c.req.valid("json") } as const;
    const outcome = await deps.send(c, { kind: "network-pool", id: idempotency.id }, message, idempotency);
    return outcome.ok ? c.json(outcome.reply, 201) : faultResponse(c, outcome.fault);
  });

  showRecord(app, deps, {
    ...networkPool,
    action: "SystemRead",
    summary: "Show a network pool",
    find: findNetworkPool,
  });

  const replaceRoute = createRoute({
    method: "put",
    path,
    tags,
    summary: "Replace a network pool",
    description: "The body replaces all fields. Floating IPs that were allocated through the pool stay.",
    ...rights(deps, "SystemConfigWrite"),
    request: { params, body: jsonBody(NetworkPoolBody) },
    responses: answers(NetworkPool, "The pool"),
  });
  app.openapi(replaceRoute, async (c) => {
    const to = { kind: "network-pool" as const, id: c.req.valid("param").network_pool_id };
    const outcome = await deps.sendOnce(c, to, { type: "replace", ...c.req.valid("json") });
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });

  deleteRecord(app, deps, {
    ...networkPool,
    action: "SystemConfigWrite",
    summary: "Delete a network pool",
    description:
      "The external subnets of the pool stay, and so do the floating IPs that were allocated through the pool.",
  });
}
