// Defines the routes with which operators find out why a machine is not usable (docs/nodes.md).
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findBootRecord } from "../../actors/boot-record/reads.ts";
import type { BootRecordState } from "../../actors/boot-record/state.ts";
import { bootRecordView } from "../../actors/boot-record/view.ts";
import { Uuid } from "../contract/common.ts";
import { NOT_FOUND } from "../contract/fault.ts";
import { BootDiagnosis, CnDiagnosis } from "../contract/node-diagnosis.ts";
import { faultResponse } from "../http/fault-status.ts";
import { diagnoseNode, diagnoseRecord } from "../services/node-diagnosis.ts";
import { answers, rights } from "./answer.ts";
import { Mac } from "./cn-boot.ts";
import type { App, Reads } from "./deps.ts";

const description =
  "Each finding has a text and, unless you can only wait, a command or a step. The request changes nothing.";

export function nodeDiagnosisRoutes(app: App, deps: Reads): void {
  const nodeRoute = createRoute({
    method: "get",
    path: "/v1/system/cns/{cn_id}/doctor",
    tags: ["Compute nodes"],
    summary: "Show why a node cannot run new instances",
    description,
    ...rights(deps, "SystemRead"),
    request: { params: z.object({ cn_id: Uuid }) },
    responses: answers(CnDiagnosis, "The findings"),
  });
  app.openapi(nodeRoute, async (c) => {
    const diagnosis = await diagnoseNode(deps.kysely, c.req.valid("param").cn_id);
    return diagnosis === null ? faultResponse(c, NOT_FOUND) : c.json(diagnosis, 200);
  });

  const recordRoute = createRoute({
    method: "get",
    path: "/v2/cn-boot/{mac}/doctor",
    tags: ["Netboot"],
    summary: "Show why the machine of a boot record cannot enrol",
    description,
    ...rights(deps, "SystemRead"),
    request: { params: z.object({ mac: Mac }) },
    responses: answers(BootDiagnosis, "The findings"),
  });
  app.openapi(recordRoute, async (c) => {
    const row = await findBootRecord(deps.byKey, c.req.valid("param").mac);
    if (row === undefined) return faultResponse(c, NOT_FOUND);
    return c.json(await diagnoseRecord(deps.kysely, bootRecordView(row as BootRecordState)), 200);
  });
}
