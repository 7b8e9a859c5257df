// Defines the routes for placement: the rules of a node, and the explanation why a node can or cannot take an instance
// (docs/instances.md, "Placement").
import { createRoute } from "@hono/zod-openapi";
import { findCnSettings } from "../../actors/cn/reads.ts";
import { placementView } from "../../actors/cn/view.ts";
import { findGroup, findInstanceToPlace, findSiloOf, placementSnapshot } from "../services/placement-snapshot.ts";
import { CnParam } from "../contract/cn.ts";
import { CnPlacement, CnPlacementPatch } from "../contract/cn-placement.ts";
import { badRequest, type Fault, isFault, NOT_FOUND } from "../contract/fault.ts";
import { ExplainBody, PlacementExplanation } from "../contract/placement.ts";
import { faultResponse } from "../http/fault-status.ts";
import { type HostedInstance } from "../lib/placement/drain.ts";
import { wantedGroup } from "../lib/placement/group.ts";
import { pick } from "../lib/placement/pick.ts";
import { type PlacementRequest, sizesOf } from "../lib/placement/request.ts";
import { type Snapshot, withInstance } from "../lib/placement/snapshot.ts";
import { answers, ASKS, jsonBody, rights } from "./answer.ts";
import type { App, RouteDeps, Writes } from "./deps.ts";

type Deps = Writes & Pick<RouteDeps, "settings">;

const tags = ["Placement"];

export function placementRoutes(app: App, deps: Deps): void {
  const showRoute = createRoute({
    method: "get",
    path: "/v1/cns/{server_uuid}/placement",
    tags,
    summary: "Show the placement rules of a node",
    ...rights(deps, "CnPlacementGet"),
    request: { params: CnParam },
    responses: answers(CnPlacement, "The rules"),
  });
  app.openapi(showRoute, async (c) => {
    const row = await findCnSettings(deps.byKey, c.req.valid("param").server_uuid);
    return row === undefined ? faultResponse(c, NOT_FOUND) : c.json(placementView(row), 200);
  });

  const editRoute = createRoute({
    method: "patch",
    path: "/v1/cns/{server_uuid}/placement",
    tags,
    summary: "Reserve, cordon, pin, overprovision or label a node",
    description:
      "Missing and null fields stay unchanged; `clear` contains the names of the fields to reset. `labels` contains " +
      "the labels to set; a label with the value null is removed, and the other labels stay. The rules apply to " +
      "future placements; instances on the node stay. 409 PinConflict for a tenant outside the pinned silo.",
    ...rights(deps, "CnPlacementSet"),
    request: { params: CnParam, body: jsonBody(CnPlacementPatch) },
    responses: answers(CnPlacement, "The new rules"),
  });
  app.openapi(editRoute, async (c) => {
    const patch = c.req.valid("json");
    const twice = patch.clear?.find((field) => patch[field] !== null && patch[field] !== undefined);
    if (twice !== undefined) {
      return faultResponse(c, badRequest(`${twice} is in clear and also has a value; send only one of the two`));
    }
    const to = { kind: "cn" as const, id: c.req.valid("param").server_uuid };
    const outcome = await deps.sendOnce(c, to, { type: "set_placement", patch });
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });

  const explainRoute = createRoute({
    method: "post",
    path: "/v1/system/placement/explain",
    tags,
    summary: "Explain where an instance would be placed, and why other nodes are rejected",
    description:
      "Changes nothing. Runs every filter on every approved node. The resources of the instance `instance_id` " +
      "count as free.",
    ...rights(deps, "SystemRead"),
    ...ASKS,
    request: { body: jsonBody(ExplainBody) },
    responses: answers(PlacementExplanation, "Every approved node with the results of all filters and scorers"),
  });
  app.openapi(explainRoute, async (c) => {
    const started = performance.now();
    const body = c.req.valid("json");
    const instance = body.instance_id ? await findInstanceToPlace(deps.kysely, body.instance_id) : null;
    if (instance === undefined) return faultResponse(c, NOT_FOUND);
    const request = await requestFrom(body, instance);
    if (isFault(request)) return faultResponse(c, request);
    const { profile, load_stale_s } = await deps.settings.placement();
    const snapshot = await placementSnapshot(deps.kysely, { load_stale_s });
    const { report } = pick(request, instance === null ? snapshot : without(snapshot, instance), profile);
    return c.json({ ...report, elapsed_ms: Math.round(performance.now() - started) }, 200);
  });

  async function requestFrom(body: ExplainBody, instance: HostedInstance | null): Promise<PlacementRequest | Fault> {
    const cpu = body.cpu ?? instance?.cpu;
    const memory_bytes = body.memory_bytes ?? instance?.memory_bytes;
    if (cpu === undefined || memory_bytes === undefined) {
      return badRequest("cpu and memory_bytes are required without instance_id");
    }
    const tenant_id = body.tenant_id ?? instance?.tenant_id ?? null;
    const silo_id = tenant_id === null ? null : await findSiloOf(deps.kysely, tenant_id);
    if (silo_id === undefined) return NOT_FOUND;
    const group_id = body.placement_group_id;
    const group = group_id ? await findGroup(deps.kysely, { id: group_id }) : instance?.group ?? null;
    if (group === undefined) return NOT_FOUND;
    const { traits, avoid_cn } = body;
    const bridged_nodes = instance?.bridged_nodes ?? {};
    return {
      ...sizesOf({ cpu, memory_bytes, disk_bytes: body.disk_bytes ?? instance?.disk_bytes ?? 0 }),
      role: body.role ?? "tenant",
      brand: body.brand ?? instance?.brand ?? "not-applicable",
      min_platform: body.min_platform ?? instance?.min_platform ?? null,
      tenant_id,
      silo_id,
      instance_id: instance?.id ?? null,
      avoid_cn,
      traits,
      nic_tags: [...new Set([...body.nic_tags, ...Object.keys(bridged_nodes)])],
      bridged_nodes,
      group: wantedGroup(group, { instance_id: instance?.id ?? null }),
    };
  }
}

/** Returns the snapshot without the instance. Then the resources of the instance count as free on its node. */
function without(snapshot: Snapshot, instance: HostedInstance): Snapshot {
  const { host_cn_uuid, tenant_id, silo_id } = instance;
  if (host_cn_uuid === null) return snapshot;
  return withInstance(snapshot, host_cn_uuid, { ...sizesOf(instance), tenant_id, silo_id, count: -1 });
}
