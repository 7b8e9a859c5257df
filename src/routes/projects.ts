// Projects of a tenant. Document 4, 2.1 and 2.2.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findProject, listProjects } from "../../actors/project/reads.ts";
import { atProject, atTenant } from "../auth/resource-scope.ts";
import { Uuid } from "../contract/common.ts";
import { NOT_FOUND } from "../contract/fault.ts";
import { NamedBody, NamedPatch, Project } from "../contract/tenancy.ts";
import { faultResponse } from "../http/fault-status.ts";
import { answers, answersCreated, answersNothing, jsonBody, rights, wholeList } from "./answer.ts";
import { type App, type RouteDeps } from "./deps.ts";
import { isFault } from "../contract/fault.ts";

const tags = ["Tenancy"];
const path = "/v1/tenants/{tenant_id}/projects/{project_id}";
const ofTenant = z.object({ tenant_id: Uuid });
const params = ofTenant.extend({ project_id: Uuid });

export function projectRoutes(app: App, deps: RouteDeps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/tenants/{tenant_id}/projects",
    tags,
    summary: "List the projects of a tenant, oldest first",
    ...rights(deps, "ProjectList", atTenant),
    request: { params: ofTenant },
    responses: answers(z.array(Project), "The projects"),
  });
  app.openapi(listRoute, async (c) => {
    const projects = await wholeList(
      "GET by id",
      (rows) => listProjects(deps.kysely, c.req.valid("param").tenant_id, rows),
    );
    return isFault(projects) ? faultResponse(c, projects) : c.json(projects, 200);
  });

  const createProjectRoute = createRoute({
    method: "post",
    path: "/v1/tenants/{tenant_id}/projects",
    tags,
    summary: "Make a project",
    ...rights(deps, "ProjectCreate", atTenant),
    request: { params: ofTenant, body: jsonBody(NamedBody) },
    responses: answersCreated(Project, "The project"),
  });
  app.openapi(createProjectRoute, async (c) => {
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const { tenant_id } = c.req.valid("param");
    const message = { type: "create", id: idempotency.id, tenant_id, ...c.req.valid("json") } as const;
    const outcome = await deps.send(c, { kind: "project", id: idempotency.id }, message, idempotency);
    return outcome.ok ? c.json(outcome.reply as Project, 201) : faultResponse(c, outcome.fault);
  });

  const showRoute = createRoute({
    method: "get",
    path,
    tags,
    summary: "Show a project",
    ...rights(deps, "ProjectGet", atProject),
    request: { params },
    responses: answers(Project, "The project"),
  });
  app.openapi(showRoute, async (c) => {
    const found = await findProject(deps.kysely, c.req.valid("param").project_id);
    return found === undefined ? faultResponse(c, NOT_FOUND) : c.json(found, 200);
  });

  const updateRoute = createRoute({
    method: "patch",
    path,
    tags,
    summary: "Rename or describe a project",
    ...rights(deps, "ProjectUpdate", atProject),
    request: { params, body: jsonBody(NamedPatch) },
    responses: answers(Project, "The project"),
  });
  app.openapi(updateRoute, async (c) => {
    const { name, description } = c.req.valid("json");
    const to = { kind: "project" as const, id: c.req.valid("param").project_id };
    const outcome = await deps.sendOnce(c, to, {
      type: "update",
      name: name ?? null,
      description: description ?? null,
    });
    return outcome.ok ? c.json(outcome.reply as Project, 200) : faultResponse(c, outcome.fault);
  });

  const deleteRoute = createRoute({
    method: "delete",
    path,
    tags,
    summary: "Delete a project that holds nothing",
    description: "Refused (409) while it holds anything; the message names one thing that it holds.",
    ...rights(deps, "ProjectDelete", atProject),
    request: { params },
    responses: answersNothing("Deleted"),
  });
  app.openapi(deleteRoute, async (c) => {
    const outcome = await deps.sendOnce(c, { kind: "project", id: c.req.valid("param").project_id }, {
      type: "delete",
    });
    return outcome.ok ? c.body(null, 204) : faultResponse(c, outcome.fault);
  });
}
