// Silos, for root operators. Document 4, 2.1 and 2.2.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findSilo, listSilos } from "../../actors/silo/reads.ts";
import { Uuid } from "../contract/common.ts";
import { NOT_FOUND } from "../contract/fault.ts";
import { NamedBody, NamedPatch, Silo } from "../contract/tenancy.ts";
import { faultResponse } from "../http/fault-status.ts";
import { answers, answersCreated, jsonBody, rights, wholeList } from "./answer.ts";
import { type App, type RouteDeps } from "./deps.ts";
import { isFault } from "../contract/fault.ts";

const tags = ["Tenancy"];
const path = "/v1/silos/{silo_id}";
const params = z.object({ silo_id: Uuid });

export function siloRoutes(app: App, deps: RouteDeps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/silos",
    tags,
    summary: "List silos, oldest first",
    ...rights(deps, "SiloList"),
    responses: answers(z.array(Silo), "The silos"),
  });
  app.openapi(listRoute, async (c) => {
    const silos = await wholeList("GET /v1/silos/{silo_id}", (rows) => listSilos(deps.kysely, rows));
    return isFault(silos) ? faultResponse(c, silos) : c.json(silos, 200);
  });

  const createSiloRoute = createRoute({
    method: "post",
    path: "/v1/silos",
    tags,
    summary: "Make a silo, and in it a tenant named default",
    ...rights(deps, "CreateSilo"),
    request: { body: jsonBody(NamedBody) },
    responses: answersCreated(Silo, "The silo"),
  });
  app.openapi(createSiloRoute, async (c) => {
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const outcome = await deps.send(c, { kind: "silo", id: idempotency.id }, {
      type: "create",
      id: idempotency.id,
      ...c.req.valid("json"),
      default_tenant_id: deps.mint.idFrom(idempotency.id, "tenant"),
    }, idempotency);
    return outcome.ok ? c.json(outcome.reply as Silo, 201) : faultResponse(c, outcome.fault);
  });

  const showRoute = createRoute({
    method: "get",
    path,
    tags,
    summary: "Show a silo",
    ...rights(deps, "GetSilo"),
    request: { params },
    responses: answers(Silo, "The silo"),
  });
  app.openapi(showRoute, async (c) => {
    const found = await findSilo(deps.kysely, c.req.valid("param").silo_id);
    return found === undefined ? faultResponse(c, NOT_FOUND) : c.json(found, 200);
  });

  const updateRoute = createRoute({
    method: "patch",
    path,
    tags,
    summary: "Rename or describe a silo",
    ...rights(deps, "SiloUpdate"),
    request: { params, body: jsonBody(NamedPatch) },
    responses: answers(Silo, "The silo"),
  });
  app.openapi(updateRoute, async (c) => {
    const { name, description } = c.req.valid("json");
    const to = { kind: "silo" as const, id: c.req.valid("param").silo_id };
    const outcome = await deps.sendOnce(c, to, {
      type: "update",
      name: name ?? null,
      description: description ?? null,
    });
    return outcome.ok ? c.json(outcome.reply as Silo, 200) : faultResponse(c, outcome.fault);
  });
}
