// Defines the routes for silos (docs/tenancy.md). Only root operators can create, change or delete silos.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findSilo, listSilos } from "../../actors/silo/reads.ts";
import { Uuid } from "../contract/common.ts";
import { isFault } from "../contract/fault.ts";
import { NamedBody, Silo } from "../contract/tenancy.ts";
import { faultResponse } from "../http/fault-status.ts";
import { answers, answersCreated, jsonBody, rights, wholeList } from "./answer.ts";
import type { App, RouteDeps, Writes } from "./deps.ts";
import { deleteRecord, renameRecord, showRecord } from "./record-routes.ts";

type Deps = Writes & Pick<RouteDeps, "mint">;

const tags = ["Tenancy"];

const silo = {
  kind: "silo",
  tags,
  path: "/v1/silos/{silo_id}",
  params: z.object({ silo_id: Uuid }),
  id: "silo_id",
  schema: Silo,
  described: "The silo",
} as const;

export function siloRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/silos",
    tags,
    summary: "List silos, oldest first",
    ...rights(deps, "SiloList"),
    responses: answers(z.array(Silo), "The silos"),
  });
  app.openapi(listRoute, async (c) => {
    const silos = await wholeList("read one silo with GET /v1/silos/{silo_id}", (rows) => listSilos(deps.kysely, rows));
    return isFault(silos) ? faultResponse(c, silos) : c.json(silos, 200);
  });

  const createSiloRoute = createRoute({
    method: "post",
    path: "/v1/silos",
    tags,
    summary: "Create a silo and its tenant named default",
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
    return outcome.ok ? c.json(outcome.reply, 201) : faultResponse(c, outcome.fault);
  });

  showRecord(app, deps, {
    ...silo,
    action: "GetSilo",
    summary: "Show a silo",
    find: findSilo,
  });

  renameRecord(app, deps, {
    ...silo,
    action: "SiloUpdate",
    summary: "Rename or describe a silo",
  });

  deleteRecord(app, deps, {
    ...silo,
    action: "SiloDelete",
    summary: "Delete a silo that holds nothing, with its default tenant",
    description:
      "409 while the silo has another tenant, an image or an SSH key, while its default tenant holds an object, and " +
      "while an external subnet, a network pool or a node's pin refers to the silo. The message names up to " +
      "five such objects.",
  });
}
