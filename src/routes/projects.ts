// Defines the routes for projects of a tenant (docs/tenancy.md).
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findProject, listProjects } from "../../actors/project/reads.ts";
import { atProject, atTenant } from "../auth/resource-scope.ts";
import { Uuid } from "../contract/common.ts";
import { isFault } from "../contract/fault.ts";
import { LabelQuery } from "../contract/labels.ts";
import { Project, ProjectBody } from "../contract/tenancy.ts";
import { faultResponse } from "../http/fault-status.ts";
import { answers, answersCreated, jsonBody, rights, wholeList } from "./answer.ts";
import type { App, Writes } from "./deps.ts";
import { deleteRecord, renameRecord, showRecord } from "./record-routes.ts";

type Deps = Writes;

const tags = ["Tenancy"];
const ofTenant = z.object({ tenant_id: Uuid });

const project = {
  kind: "project",
  tags,
  path: "/v1/tenants/{tenant_id}/projects/{project_id}",
  params: ofTenant.extend({ project_id: Uuid }),
  id: "project_id",
  schema: Project,
  described: "The project",
  locate: atProject,
  has_labels: true,
} as const;

export function projectRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/tenants/{tenant_id}/projects",
    tags,
    summary: "List the projects of a tenant, oldest first",
    ...rights(deps, "ProjectList", atTenant),
    request: { params: ofTenant, query: z.object({ label: LabelQuery }) },
    responses: answers(z.array(Project), "The projects"),
  });
  app.openapi(listRoute, async (c) => {
    const { tenant_id } = c.req.valid("param");
    const { label: labels } = c.req.valid("query");
    const projects = await wholeList(
      "narrow it with label=",
      (rows) => listProjects(deps.kysely, tenant_id, { rows, labels }),
    );
    return isFault(projects) ? faultResponse(c, projects) : c.json(projects, 200);
  });

  const createProjectRoute = createRoute({
    method: "post",
    path: "/v1/tenants/{tenant_id}/projects",
    tags,
    summary: "Create a project",
    ...rights(deps, "ProjectCreate", atTenant),
    request: { params: ofTenant, body: jsonBody(ProjectBody) },
    responses: answersCreated(Project, "The project"),
  });
  app.openapi(createProjectRoute, async (c) => {
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const { tenant_id } = c.req.valid("param");
    const message = { type: "create", id: idempotency.id, tenant_id, ...c.req.valid("json") } as const;
    const outcome = await deps.send(c, { kind: "project", id: idempotency.id }, message, idempotency);
    return outcome.ok ? c.json(outcome.reply, 201) : faultResponse(c, outcome.fault);
  });

  showRecord(app, deps, {
    ...project,
    action: "ProjectGet",
    summary: "Show a project",
    find: findProject,
  });

  renameRecord(app, deps, {
    ...project,
    action: "ProjectUpdate",
    summary: "Rename, describe or label a project",
  });

  deleteRecord(app, deps, {
    ...project,
    action: "ProjectDelete",
    summary: "Delete a project that holds nothing",
    description: "409 while the project holds an object; the message names up to five.",
  });
}
