// Defines the routes with which operators manage NIC tags, and list the tags that each node offers. A NIC tag is the
// name of a physical network (docs/networking.md).
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findNicTag, listCnNicTags, listNicTags } from "../../actors/nic-tag/reads.ts";
import { page, PageQuery, Uuid } from "../contract/common.ts";
import { CnNicTags, NicTag, NicTagBody } from "../contract/external-network.ts";
import { isFault } from "../contract/fault.ts";
import { faultResponse } from "../http/fault-status.ts";
import { pageById } from "../http/page.ts";
import { answers, answersCreated, jsonBody, rights } from "./answer.ts";
import type { App, Writes } from "./deps.ts";
import { deleteRecord, showRecord } from "./record-routes.ts";

type Deps = Writes;

const tags = ["External networks"];

const nicTag = {
  kind: "nic-tag",
  tags,
  path: "/v1/system/nic-tags/{nic_tag_id}",
  params: z.object({ nic_tag_id: Uuid }),
  id: "nic_tag_id",
  schema: NicTag,
  described: "The tag",
} as const;

export function nicTagRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/system/nic-tags",
    tags,
    summary: "List NIC tags",
    ...rights(deps, "SystemRead"),
    request: { query: z.object(PageQuery) },
    responses: answers(page(NicTag), "The tags"),
  });
  app.openapi(listRoute, async (c) => {
    const result = await pageById(c.req.valid("query"), (at) => listNicTags(deps.kysely, at));
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const createTagRoute = createRoute({
    method: "post",
    path: "/v1/system/nic-tags",
    tags,
    summary: "Create a NIC tag",
    ...rights(deps, "SystemConfigWrite"),
    request: { body: jsonBody(NicTagBody) },
    responses: answersCreated(NicTag, "The tag"),
  });
  app.openapi(createTagRoute, async (c) => {
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const message = { type: "create", id: idempotency.id, ...c.req.valid("json") } as const;
    const outcome = await deps.send(c, { kind: "nic-tag", id: idempotency.id }, message, idempotency);
    return outcome.ok ? c.json(outcome.reply, 201) : faultResponse(c, outcome.fault);
  });

  showRecord(app, deps, {
    ...nicTag,
    action: "SystemRead",
    summary: "Show a NIC tag",
    find: findNicTag,
  });

  deleteRecord(app, deps, {
    ...nicTag,
    action: "SystemConfigWrite",
    summary: "Delete a NIC tag",
    description: "409 NicTagInUse while an external subnet uses the tag.",
  });

  const offersRoute = createRoute({
    method: "get",
    path: "/v1/system/cn-nic-tags",
    tags,
    summary: "List the NIC tags that each node offers",
    description: "The tags are from the last capacity report of each node. A node without a report is not in the list.",
    ...rights(deps, "SystemRead"),
    request: { query: z.object(PageQuery) },
    responses: answers(page(CnNicTags), "The nodes with a report, in the order of their UUIDs"),
  });
  app.openapi(offersRoute, async (c) => {
    const result = await pageById(c.req.valid("query"), async (at) => {
      const nodes = await listCnNicTags(deps.kysely, at);
      return nodes.map((node) => ({ id: node.server_uuid, ...node }));
    });
    if (!result.ok) return faultResponse(c, result.fault);
    const items = result.page.items.map(({ id: _id, ...node }) => node);
    return c.json({ ...result.page, items }, 200);
  });
}
