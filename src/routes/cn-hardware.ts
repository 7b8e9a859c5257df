// Defines the routes for the hardware and the firmware of a node, as its BMC shows them (docs/booting.md, "Hardware and
// firmware").
import { createRoute } from "@hono/zod-openapi";
import { findCnSettings, findHardware } from "../../actors/cn/reads.ts";
import { CnParam } from "../contract/cn.ts";
import { conflict, NOT_FOUND } from "../contract/fault.ts";
import { Hardware, NodeHardware } from "../contract/hardware.ts";
import { faultResponse } from "../http/fault-status.ts";
import { answers, jsonBody, REPEATABLE, rights } from "./answer.ts";
import { provenanceOf } from "./cn-boot.ts";
import type { App, Reads, RouteDeps } from "./deps.ts";

export function cnHardwareRoutes(app: App, deps: Reads & Pick<RouteDeps, "signals">): void {
  const showRoute = createRoute({
    method: "get",
    path: "/v1/cns/{server_uuid}/hardware",
    tags: ["Compute nodes"],
    summary: "Show the hardware and the firmware of a node, as its BMC showed them last",
    ...rights(deps, "CnHardwareGet"),
    request: { params: CnParam },
    responses: answers(NodeHardware.nullable(), "The hardware; null if no booter has read it"),
  });
  app.openapi(showRoute, async (c) => {
    const { server_uuid } = c.req.valid("param");
    const [node, hardware] = await Promise.all([
      findCnSettings(deps.kysely, server_uuid),
      findHardware(deps.kysely, server_uuid),
    ]);
    return node === undefined ? faultResponse(c, NOT_FOUND) : c.json(hardware ?? null, 200);
  });

  const putRoute = createRoute({
    method: "put",
    path: "/v2/booter/cns/{server_uuid}/hardware",
    tags: ["Booter"],
    summary: "Store the hardware and the firmware of a node, as its BMC shows them",
    description: "Replaces the stored hardware.",
    ...rights(deps, "BooterHardware"),
    ...REPEATABLE,
    request: { params: CnParam, body: jsonBody(Hardware) },
    responses: answers(NodeHardware, "The stored hardware"),
  });
  app.openapi(putRoute, async (c) => {
    const { server_uuid } = c.req.valid("param");
    if (await findCnSettings(deps.kysely, server_uuid) === undefined) return faultResponse(c, NOT_FOUND);
    const read = { hardware: c.req.valid("json"), read_by: provenanceOf(c) };
    const refusal = await deps.signals.hardware(server_uuid, read);
    if (refusal !== null) return faultResponse(c, refusal);
    const stored = await findHardware(deps.kysely, server_uuid);
    return stored === undefined ? faultResponse(c, REMOVED) : c.json(stored, 200);
  });
}

const REMOVED = conflict("the node was removed while the request was handled");
