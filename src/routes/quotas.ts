// Defines the routes for the quotas and the usage of tenants and of projects (docs/tenancy.md, "Quotas").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findUsage } from "../../actors/project/reads.ts";
import { findQuota } from "../../actors/quota/reads.ts";
import { findTenantQuota, findTenantUsage, limitsInForce } from "../../actors/tenant-quota/reads.ts";
import { atProject, atTenant } from "../auth/resource-scope.ts";
import { Uuid } from "../contract/common.ts";
import { NOT_FOUND } from "../contract/fault.ts";
import { Quota, QuotaBody, TenantQuota, UsageView } from "../contract/tenancy.ts";
import { faultResponse } from "../http/fault-status.ts";
import { answers, answersNothing, jsonBody, rights } from "./answer.ts";
import type { App, RouteDeps, Writes } from "./deps.ts";

type Deps = Writes & Pick<RouteDeps, "settings">;

const tags = ["Tenancy"];
const tenantPath = "/v1/tenants/{tenant_id}";
const projectPath = `${tenantPath}/projects/{project_id}`;
const ofTenant = z.object({ tenant_id: Uuid });
const ofProject = ofTenant.extend({ project_id: Uuid });

const BINDS =
  "The quota is checked only when an object is created or grows. Existing objects stay, even above the new limit. " +
  "The quota replaces all four defaults of the cluster.";
const UNSET = (level: "tenant" | "project") =>
  `404 if no quota is set. The settings quota.${level}_default.* then apply; null is unlimited. The usage shows ` +
  "the limits in force.";
const IN_FORCE = "`limits` are the limits in force: the quota, or else the defaults of the cluster; null is unlimited.";

export function quotaRoutes(app: App, deps: Deps): void {
  projectQuotaRoutes(app, deps);
  tenantQuotaRoutes(app, deps);
}

function tenantQuotaRoutes(app: App, deps: Deps): void {
  const usageRoute = createRoute({
    method: "get",
    path: `${tenantPath}/usage`,
    tags,
    summary: "Show the usage of all projects of a tenant",
    description: IN_FORCE,
    ...rights(deps, "QuotaGet", atTenant),
    request: { params: ofTenant },
    responses: answers(UsageView, "The usage, with or without a quota"),
  });
  app.openapi(usageRoute, async (c) => {
    const { tenant_id: id } = c.req.valid("param");
    const { tenant } = await deps.settings.quotaDefaults();
    const [used, limits] = await Promise.all([
      findTenantUsage(deps.kysely, id),
      limitsInForce(deps.kysely, { kind: "tenant", id }, tenant),
    ]);
    return c.json({ ...used, limits }, 200);
  });

  const showRoute = createRoute({
    method: "get",
    path: `${tenantPath}/quota`,
    tags,
    summary: "Show the quota of a tenant and the usage of its projects",
    description: UNSET("tenant"),
    ...rights(deps, "QuotaGet", atTenant),
    request: { params: ofTenant },
    responses: answers(TenantQuota, "The quota"),
  });
  app.openapi(showRoute, async (c) => {
    const found = await findTenantQuota(deps.byKey, c.req.valid("param").tenant_id);
    return found === undefined ? faultResponse(c, NOT_FOUND) : c.json(found, 200);
  });

  const setRoute = createRoute({
    method: "put",
    path: `${tenantPath}/quota`,
    tags,
    summary: "Set the quota of a tenant",
    description:
      "The quota limits the sum over the projects of the tenant, in addition to the quota of each project. An " +
      `instance counts against both quotas in the same commit. ${BINDS}`,
    ...rights(deps, "QuotaSet", atTenant),
    request: { params: ofTenant, body: jsonBody(QuotaBody) },
    responses: answers(TenantQuota, "The quota"),
  });
  app.openapi(setRoute, async (c) => {
    const { tenant_id } = c.req.valid("param");
    const message = { type: "set", tenant_id, ...c.req.valid("json") } as const;
    const outcome = await deps.sendOnce(c, { kind: "tenant-quota", id: tenant_id }, message);
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    const used = await findTenantUsage(deps.kysely, tenant_id);
    return c.json({ ...outcome.reply, used }, 200);
  });

  const unsetRoute = createRoute({
    method: "delete",
    path: `${tenantPath}/quota`,
    tags,
    summary: "Remove the quota of a tenant: the default of the cluster applies again",
    ...rights(deps, "QuotaDelete", atTenant),
    request: { params: ofTenant },
    responses: answersNothing("Removed"),
  });
  app.openapi(unsetRoute, async (c) => {
    const to = { kind: "tenant-quota" as const, id: c.req.valid("param").tenant_id };
    const outcome = await deps.sendOnce(c, to, { type: "unset" });
    return outcome.ok ? c.body(null, 204) : faultResponse(c, outcome.fault);
  });
}

function projectQuotaRoutes(app: App, deps: Deps): void {
  const usageRoute = createRoute({
    method: "get",
    path: `${projectPath}/usage`,
    tags,
    summary: "Show the usage of a project",
    description: IN_FORCE,
    ...rights(deps, "QuotaGet", atProject),
    request: { params: ofProject },
    responses: answers(UsageView, "The usage, with or without a quota"),
  });
  app.openapi(usageRoute, async (c) => {
    const { project_id: id } = c.req.valid("param");
    const { project } = await deps.settings.quotaDefaults();
    const used = await findUsage(deps.kysely, id);
    if (used === undefined) return faultResponse(c, NOT_FOUND);
    const limits = await limitsInForce(deps.kysely, { kind: "project", id }, project);
    return c.json({ ...used, limits }, 200);
  });

  const showRoute = createRoute({
    method: "get",
    path: `${projectPath}/quota`,
    tags,
    summary: "Show the quota and the usage of a project",
    description: UNSET("project"),
    ...rights(deps, "QuotaGet", atProject),
    request: { params: ofProject },
    responses: answers(Quota, "The quota"),
  });
  app.openapi(showRoute, async (c) => {
    const found = await findQuota(deps.byKey, c.req.valid("param").project_id);
    return found === undefined ? faultResponse(c, NOT_FOUND) : c.json(found, 200);
  });

  const setRoute = createRoute({
    method: "put",
    path: `${projectPath}/quota`,
    tags,
    summary: "Set the quota of a project",
    description: `In addition, the quota of the tenant limits the sum over its projects. ${BINDS}`,
    ...rights(deps, "QuotaSet", atProject),
    request: { params: ofProject, body: jsonBody(QuotaBody) },
    responses: answers(Quota, "The quota"),
  });
  app.openapi(setRoute, async (c) => {
    const { project_id, tenant_id } = c.req.valid("param");
    const message = { type: "set", project_id, tenant_id, ...c.req.valid("json") } as const;
    const outcome = await deps.sendOnce(c, { kind: "quota", id: project_id }, message);
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    // The reply does not contain the usage counters.
    const used = await findUsage(deps.kysely, project_id);
    if (used === undefined) return faultResponse(c, NOT_FOUND);
    return c.json({ ...outcome.reply, used }, 200);
  });

  const unsetRoute = createRoute({
    method: "delete",
    path: `${projectPath}/quota`,
    tags,
    summary: "Remove the quota of a project: the default of the cluster applies again",
    ...rights(deps, "QuotaDelete", atProject),
    request: { params: ofProject },
    responses: answersNothing("Removed"),
  });
  app.openapi(unsetRoute, async (c) => {
    const outcome = await deps.sendOnce(c, { kind: "quota", id: c.req.valid("param").project_id }, { type: "unset" });
    return outcome.ok ? c.body(null, 204) : faultResponse(c, outcome.fault);
  });
}
