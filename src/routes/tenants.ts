// Tenants of a silo, for those who administer it and for root operators. Document 4, 2.1 and 2.2.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findTenant, listTenants } from "../../actors/tenant/reads.ts";
import { atSilo, atTenantOfSilo } from "../auth/resource-scope.ts";
import { Uuid } from "../contract/common.ts";
import { NOT_FOUND } from "../contract/fault.ts";
import { NamedBody, NamedPatch, Tenant } from "../contract/tenancy.ts";
import { faultResponse } from "../http/fault-status.ts";
import { answers, answersCreated, answersNothing, jsonBody, rights, wholeList } from "./answer.ts";
import { type App, type RouteDeps } from "./deps.ts";
import { isFault } from "../contract/fault.ts";

const tags = ["Tenancy"];
const path = "/v1/silos/{silo_id}/tenants/{tenant_id}";
const ofSilo = z.object({ silo_id: Uuid });
const params = ofSilo.extend({ tenant_id: Uuid });
const OF_SILO =
  "A silo is one customer, and its tenants are the customer's departments. A member of a tenant acts in that tenant only; " +
  "the capability silo-admin adds the silo's tenants and what belongs to the whole silo.";

export function tenantRoutes(app: App, deps: RouteDeps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/silos/{silo_id}/tenants",
    tags,
    summary: "List the tenants of a silo, oldest first",
    description: OF_SILO,
    ...rights(deps, "TenantList", atSilo),
    request: { params: ofSilo },
    responses: answers(z.array(Tenant), "The tenants"),
  });
  app.openapi(listRoute, async (c) => {
    const tenants = await wholeList(
      "GET by id",
      (rows) => listTenants(deps.kysely, c.req.valid("param").silo_id, rows),
    );
    return isFault(tenants) ? faultResponse(c, tenants) : c.json(tenants, 200);
  });

  const createTenantRoute = createRoute({
    method: "post",
    path: "/v1/silos/{silo_id}/tenants",
    tags,
    summary: "Make a tenant",
    description: OF_SILO,
    ...rights(deps, "TenantCreate", atSilo),
    request: { params: ofSilo, body: jsonBody(NamedBody) },
    responses: answersCreated(Tenant, "The tenant"),
  });
  app.openapi(createTenantRoute, async (c) => {
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const { silo_id } = c.req.valid("param");
    const message = { type: "create", id: idempotency.id, silo_id, ...c.req.valid("json") } as const;
    const outcome = await deps.send(c, { kind: "tenant", id: idempotency.id }, message, idempotency);
    return outcome.ok ? c.json(outcome.reply as Tenant, 201) : faultResponse(c, outcome.fault);
  });

  const showRoute = createRoute({
    method: "get",
    path,
    tags,
    summary: "Show a tenant",
    ...rights(deps, "TenantGet", atTenantOfSilo),
    request: { params },
    responses: answers(Tenant, "The tenant"),
  });
  app.openapi(showRoute, async (c) => {
    const found = await findTenant(deps.kysely, c.req.valid("param").tenant_id);
    return found === undefined ? faultResponse(c, NOT_FOUND) : c.json(found, 200);
  });

  const updateRoute = createRoute({
    method: "patch",
    path,
    tags,
    summary: "Rename or describe a tenant",
    description: OF_SILO,
    ...rights(deps, "TenantUpdate", atTenantOfSilo),
    request: { params, body: jsonBody(NamedPatch) },
    responses: answers(Tenant, "The tenant"),
  });
  app.openapi(updateRoute, async (c) => {
    const { name, description } = c.req.valid("json");
    const to = { kind: "tenant" as const, id: c.req.valid("param").tenant_id };
    const outcome = await deps.sendOnce(c, to, {
      type: "update",
      name: name ?? null,
      description: description ?? null,
    });
    return outcome.ok ? c.json(outcome.reply as Tenant, 200) : faultResponse(c, outcome.fault);
  });

  const deleteRoute = createRoute({
    method: "delete",
    path,
    tags,
    summary: "Delete a tenant that holds nothing",
    description:
      "Refused (409) while it holds a project, a user or an API key, and for the default tenant of a silo. " +
      OF_SILO,
    ...rights(deps, "TenantDelete", atTenantOfSilo),
    request: { params },
    responses: answersNothing("Deleted"),
  });
  app.openapi(deleteRoute, async (c) => {
    const outcome = await deps.sendOnce(c, { kind: "tenant", id: c.req.valid("param").tenant_id }, { type: "delete" });
    return outcome.ok ? c.body(null, 204) : faultResponse(c, outcome.fault);
  });
}
