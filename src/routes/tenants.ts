// Defines the routes with which a silo's administrators and root operators manage the tenants of the silo
// (docs/tenancy.md).
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findTenant, listTenants } from "../../actors/tenant/reads.ts";
import { atSilo, atTenantOfSilo } from "../auth/resource-scope.ts";
import { Uuid } from "../contract/common.ts";
import { isFault } from "../contract/fault.ts";
import { NamedBody, Tenant } from "../contract/tenancy.ts";
import { faultResponse } from "../http/fault-status.ts";
import { answers, answersCreated, jsonBody, rights, wholeList } from "./answer.ts";
import type { App, Writes } from "./deps.ts";
import { deleteRecord, renameRecord, showRecord } from "./record-routes.ts";

type Deps = Writes;

const tags = ["Tenancy"];
const ofSilo = z.object({ silo_id: Uuid });
const OF_SILO =
  "A silo is one customer, and its tenants are the departments of the customer. A member of a tenant acts only in " +
  "that tenant. A member with the capability silo-admin also manages the silo's tenants, and the images and SSH keys " +
  "that the silo shares, but has no rights inside another tenant.";

const tenant = {
  kind: "tenant",
  tags,
  path: "/v1/silos/{silo_id}/tenants/{tenant_id}",
  params: ofSilo.extend({ tenant_id: Uuid }),
  id: "tenant_id",
  schema: Tenant,
  described: "The tenant",
  locate: atTenantOfSilo,
} as const;

export function tenantRoutes(app: App, deps: Deps): void {
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
      "read one tenant with GET /v1/silos/{silo_id}/tenants/{tenant_id}",
      (rows) => listTenants(deps.kysely, c.req.valid("param").silo_id, rows),
    );
    return isFault(tenants) ? faultResponse(c, tenants) : c.json(tenants, 200);
  });

  const createTenantRoute = createRoute({
    method: "post",
    path: "/v1/silos/{silo_id}/tenants",
    tags,
    summary: "Create a tenant",
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
    return outcome.ok ? c.json(outcome.reply, 201) : faultResponse(c, outcome.fault);
  });

  showRecord(app, deps, {
    ...tenant,
    action: "TenantGet",
    summary: "Show a tenant",
    find: findTenant,
  });

  renameRecord(app, deps, {
    ...tenant,
    action: "TenantUpdate",
    summary: "Rename or describe a tenant",
    description: OF_SILO,
  });

  deleteRecord(app, deps, {
    ...tenant,
    action: "TenantDelete",
    summary: "Delete a tenant that holds nothing",
    description:
      "409 while the tenant holds an object, such as a project, a user or an API key; the message names up to five. " +
      "Always 409 for the default tenant of a silo. " +
      OF_SILO,
  });
}
