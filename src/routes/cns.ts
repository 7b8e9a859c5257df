// Defines the routes with which operators manage compute nodes (docs/nodes.md).
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findCn, findCnSettings, listCns } from "../../actors/cn/reads.ts";
import { listInstancesOn } from "../../actors/instance/reads.ts";
import { cnView } from "../../actors/cn/view.ts";
import {
  CnConfirmation,
  CnParam,
  CnReservoirBody,
  CnReservoirView,
  CnRoleBody,
  CnUnderlayPatch,
  CnView,
} from "../contract/cn.ts";
import { PlacedInstance } from "../contract/instance.ts";
import { GivenTimestamp, page, PageQuery, Uuid } from "../contract/common.ts";
import { CN_STATES } from "../contract/enums.ts";
import { badRequest, NOT_FOUND } from "../contract/fault.ts";
import { LabelQuery } from "../contract/labels.ts";
import { CN_SYSINFO_PAGE_ROWS_MAX } from "../contract/limits.ts";
import { faultResponse } from "../http/fault-status.ts";
import { resultsPage, rowsToFetch } from "../http/page.ts";
import { toRfc3339 } from "../lib/text/instant.ts";
import { decodePageToken, FOREIGN_PAGE_TOKEN } from "../lib/ids/page-token.ts";
import { answers, answersNothing, jsonBody, rights } from "./answer.ts";
import type { App, RouteDeps, Writes } from "./deps.ts";

type Deps = Writes & Pick<RouteDeps, "settings">;

const tags = ["Compute nodes"];

export function cnRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/system/cns",
    tags,
    summary: "List compute nodes, in the order of registration",
    ...rights(deps, "SystemRead"),
    description:
      "`sysinfo` and `last_status` can be large and are null in the list; GET /v1/system/cns/{cn_id} returns them. " +
      `\`include=sysinfo\` includes them and takes a \`limit\` of at most ${CN_SYSINFO_PAGE_ROWS_MAX}.`,
    request: {
      query: z.object({
        state: z.enum(CN_STATES).optional(),
        label: LabelQuery,
        include: z.enum(["sysinfo"]).optional().describe("Large columns to include"),
        ...PageQuery,
      }),
    },
    responses: answers(page(CnView), "The nodes"),
  });
  app.openapi(listRoute, async (c) => {
    const { state, label, include, limit, page_token } = c.req.valid("query");
    if (include !== undefined && (limit ?? Infinity) > CN_SYSINFO_PAGE_ROWS_MAX) {
      return faultResponse(c, badRequest(`include=sysinfo needs limit= of at most ${CN_SYSINFO_PAGE_ROWS_MAX}`));
    }
    const after = page_token === undefined ? undefined : cursorFrom(page_token);
    if (after === null) return faultResponse(c, FOREIGN_PAGE_TOKEN);
    const rows = await listCns(
      deps.kysely,
      { state, labels: label, after, rows: rowsToFetch(limit) },
      include !== undefined,
    );
    const result = resultsPage({
      rows,
      limit,
      view: cnView,
      cursorOf: (row) => ({ registered_at: toRfc3339(row.registered_at), server_uuid: row.server_uuid }),
      narrow: "state= or label=",
    });
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const showRoute = createRoute({
    method: "get",
    path: "/v1/system/cns/{cn_id}",
    tags,
    summary: "Show one compute node",
    ...rights(deps, "SystemRead"),
    request: { params: z.object({ cn_id: Uuid }) },
    responses: answers(CnView, "The node"),
  });
  app.openapi(showRoute, async (c) => {
    const row = await deps.findOne(findCn, c.req.valid("param").cn_id);
    return row === null ? faultResponse(c, NOT_FOUND) : c.json(cnView(row), 200);
  });

  const instancesRoute = createRoute({
    method: "get",
    path: "/v1/system/cns/{cn_id}/instances",
    tags,
    summary: "List the instances on a node",
    ...rights(deps, "SystemRead"),
    request: { params: z.object({ cn_id: Uuid }), query: z.object(PageQuery) },
    responses: answers(page(PlacedInstance), "The instances, in any state"),
  });
  app.openapi(instancesRoute, async (c) => {
    const { cn_id } = c.req.valid("param");
    const { limit, page_token } = c.req.valid("query");
    const cursor = page_token === undefined
      ? undefined
      : z.object({ id: z.guid() }).safeParse(decodePageToken(page_token));
    if (cursor?.success === false) return faultResponse(c, FOREIGN_PAGE_TOKEN);
    if (await findCnSettings(deps.byKey, cn_id) === undefined) return faultResponse(c, NOT_FOUND);
    const rows = await listInstancesOn(deps.kysely, {
      server_uuid: cn_id,
      after: cursor?.data.id,
      rows: rowsToFetch(limit),
    });
    const cursorOf = ({ id }: PlacedInstance) => ({ id });
    const result = resultsPage({ rows, limit, view: (row) => row, cursorOf, narrow: "limit=" });
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const disableRoute = createRoute({
    method: "post",
    path: "/v1/cns/{server_uuid}/disable",
    tags,
    summary: "Disable a node",
    description:
      "Ends the node's claims. The node gets no new work; its instances continue to run. The node's key stays " +
      "valid. Enable the node to use it again, or remove the node to revoke the key.",
    ...rights(deps, "CnDisable"),
    request: { params: CnParam },
    responses: answers(CnView, "The node, disabled"),
  });
  app.openapi(disableRoute, async (c) => {
    const { server_uuid } = c.req.valid("param");
    const outcome = await deps.sendOnce(c, { kind: "cn", id: server_uuid }, { type: "disable" });
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });

  const enableRoute = createRoute({
    method: "post",
    path: "/v1/cns/{server_uuid}/enable",
    tags,
    summary: "Enable a disabled node again",
    description: "The node keeps its key and its settings. 409 for a node whose key was deleted: its agent must " +
      "register again. Enabling an approved node changes nothing.",
    ...rights(deps, "CnEnable"),
    request: { params: CnParam },
    responses: answers(CnView, "The node, approved"),
  });
  app.openapi(enableRoute, async (c) => {
    const { server_uuid } = c.req.valid("param");
    const outcome = await deps.sendOnce(c, { kind: "cn", id: server_uuid }, { type: "enable" });
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });

  const roleRoute = createRoute({
    method: "post",
    path: "/v1/cns/{server_uuid}/role",
    tags,
    summary: "Set the role of a node",
    ...rights(deps, "CnSetRole"),
    request: { params: CnParam, body: jsonBody(CnRoleBody) },
    responses: answers(CnView, "The node with its new role"),
  });
  app.openapi(roleRoute, async (c) => {
    const { server_uuid } = c.req.valid("param");
    const { role } = c.req.valid("json");
    const outcome = await deps.sendOnce(c, { kind: "cn", id: server_uuid }, { type: "set_role", role });
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });

  const underlayRoute = createRoute({
    method: "patch",
    path: "/v1/cns/{server_uuid}/underlay",
    tags,
    summary: "Set the underlay address and MTU of a node",
    description:
      "The values replace the node's reported values; null restores the reported value. 409 if another node has " +
      "the address. If the address or the MTU changes, the VPCs of the node get a new generation.",
    ...rights(deps, "CnSetUnderlay"),
    request: { params: CnParam, body: jsonBody(CnUnderlayPatch) },
    responses: answers(CnView, "The node"),
  });
  app.openapi(underlayRoute, async (c) => {
    const to = { kind: "cn" as const, id: c.req.valid("param").server_uuid };
    const outcome = await deps.sendOnce(c, to, { type: "set_underlay", ...c.req.valid("json") });
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });

  const reservoirRoute = createRoute({
    method: "post",
    path: "/v1/cns/{server_uuid}/reservoir",
    tags,
    summary: "Replace the memory reservoir override of a node",
    description: "Replaces the whole override: null or absent fields are inherited from the cluster defaults. " +
      "The percent is a fraction of physical memory; any number is accepted, and the node clamps it.",
    ...rights(deps, "CnSetReservoir"),
    request: { params: CnParam, body: jsonBody(CnReservoirBody) },
    responses: answers(CnReservoirView, "The override and the effective values"),
  });
  app.openapi(reservoirRoute, async (c) => {
    const { server_uuid } = c.req.valid("param");
    const { reservoir_enabled, reservoir_percent } = c.req.valid("json");
    const outcome = await deps.sendOnce(c, { kind: "cn", id: server_uuid }, {
      type: "set_reservoir",
      reservoir_enabled: reservoir_enabled ?? null,
      reservoir_percent: reservoir_percent ?? null,
      defaults: await deps.settings.reservoir(),
    });
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });

  const removeRoute = createRoute({
    method: "delete",
    path: "/v1/cns/{server_uuid}",
    tags,
    summary: "Remove a node's record and revoke its key",
    description:
      "Allowed in the states disabled, pending and awaiting_setup, while the node has no instances. Removing a " +
      "missing node succeeds. The machine is not contacted, and its disks are not touched. 409 if `confirm` is not " +
      "the hostname of the node.",
    ...rights(deps, "CnRemove"),
    request: { params: CnParam, query: CnConfirmation },
    responses: answersNothing("Removed"),
  });
  app.openapi(removeRoute, async (c) => {
    const { server_uuid } = c.req.valid("param");
    const outcome = await deps.sendOnce(c, { kind: "cn", id: server_uuid }, {
      type: "remove",
      ...c.req.valid("query"),
    });
    return outcome.ok ? c.body(null, 204) : faultResponse(c, outcome.fault);
  });
}

function cursorFrom(token: string): { registered_at: string; server_uuid: string } | null {
  const cursor = decodePageToken(token);
  const shape = z.object({ registered_at: GivenTimestamp, server_uuid: z.guid() }).safeParse(cursor);
  return shape.success ? shape.data : null;
}
