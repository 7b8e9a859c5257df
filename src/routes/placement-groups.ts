// Defines the routes for placement groups of a project (docs/instances.md, "Placement groups").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findPlacementGroup, listPlacementGroups } from "../../actors/placement-group/reads.ts";
import { scopeOf } from "../auth/authorize.ts";
import { atRow, inProject } from "../auth/resource-scope.ts";
import { page, PageQuery, Uuid } from "../contract/common.ts";
import { isFault, NOT_FOUND } from "../contract/fault.ts";
import { LabelQuery } from "../contract/labels.ts";
import { PlacementGroup, PlacementGroupBody } from "../contract/placement-group.ts";
import { faultResponse } from "../http/fault-status.ts";
import { pageById } from "../http/page.ts";
import { answers, answersCreated, jsonBody, rights } from "./answer.ts";
import type { App, Writes } from "./deps.ts";
import { deleteRecord, renameRecord, showRecord } from "./record-routes.ts";

const tags = ["Instances"];
const ofProject = z.object({ tenant: Uuid, project: Uuid });

const placementGroup = {
  kind: "placement-group",
  tags,
  path: "/v1/placement-groups/{placement_group_id}",
  params: z.object({ placement_group_id: Uuid }),
  id: "placement_group_id",
  schema: PlacementGroup,
  described: "The placement group",
  locate: atRow("placement_group", "placement_group_id"),
  has_labels: true,
} as const;

export function placementGroupRoutes(app: App, deps: Writes): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/placement-groups",
    tags,
    summary: "List the placement groups of a project, oldest first",
    ...rights(deps, "PlacementGroupList", inProject),
    request: { query: ofProject.extend({ label: LabelQuery, ...PageQuery }) },
    responses: answers(page(PlacementGroup), "The placement groups"),
  });
  app.openapi(listRoute, async (c) => {
    const { project: project_id, label: labels, ...query } = c.req.valid("query");
    const result = await pageById(query, (at) => listPlacementGroups(deps.kysely, { project_id, labels, ...at }));
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const createGroupRoute = createRoute({
    method: "post",
    path: "/v1/placement-groups",
    tags,
    summary: "Create a placement group",
    description:
      "An instance joins the group when it is created with `placement_group_id`. When an instance is created, " +
      "migrated, drained or evacuated, the server keeps the instances of its group apart or together. With the " +
      "strictness required, a node that breaks the rule is rejected; with preferred, the node is ranked last. The " +
      "name, description and labels can change later; the policy, level and strictness cannot.",
    ...rights(deps, "PlacementGroupCreate", inProject),
    request: { query: ofProject, body: jsonBody(PlacementGroupBody) },
    responses: answersCreated(PlacementGroup, "The placement group"),
  });
  app.openapi(createGroupRoute, async (c) => {
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const { tenant_id, project_id } = scopeOf(c);
    if (tenant_id === null || project_id === null) return faultResponse(c, NOT_FOUND);
    const outcome = await deps.send(c, { kind: "placement-group", id: idempotency.id }, {
      type: "create",
      id: idempotency.id,
      tenant_id,
      project_id,
      ...c.req.valid("json"),
    }, idempotency);
    return outcome.ok ? c.json(outcome.reply, 201) : faultResponse(c, outcome.fault);
  });

  showRecord(app, deps, {
    ...placementGroup,
    action: "PlacementGroupGet",
    summary: "Show a placement group",
    find: findPlacementGroup,
  });

  renameRecord(app, deps, {
    ...placementGroup,
    action: "PlacementGroupUpdate",
    summary: "Rename, describe or label a placement group",
  });

  deleteRecord(app, deps, {
    ...placementGroup,
    action: "PlacementGroupDelete",
    summary: "Delete a placement group without instances",
    description: "409 while an instance is in the group.",
  });
}
