// Defines the routes for the handover of a live setup run: one booter sent the setup script, and another booter takes
// over the run (docs/booting.md, "Two booters on one network").
import { createHash } from "node:crypto";
import { createRoute, z } from "@hono/zod-openapi";
import { findSetupScript } from "../../actors/cn/reads.ts";
import { withoutClaims } from "../../actors/cn/view.ts";
import { CnParam, CnView } from "../contract/cn.ts";
import { conflict, NOT_FOUND } from "../contract/fault.ts";
import { BundleHandover, DeliveredScript, SetupBundle, SetupScript, Sha256 } from "../contract/setup.ts";
import { faultResponse } from "../http/fault-status.ts";
import { openSetupBundle } from "../services/setup-bundle.ts";
import { answers, jsonBody, REPEATABLE, rights } from "./answer.ts";
import { Mac } from "./cn-boot.ts";
import type { App, RouteDeps, Writes } from "./deps.ts";

const tags = ["Booter"];

export function booterHandoverRoutes(app: App, deps: Writes & Pick<RouteDeps, "mint" | "settings">): void {
  const deliveredRoute = createRoute({
    method: "put",
    path: "/v2/booter/cns/{server_uuid}/setup-script",
    tags,
    summary: "Announce the setup script that a booter is about to send",
    description:
      "Another booter then accepts the calls of this script. After the first report of the run, or after another " +
      "booter got the bundle, the server refuses the request: two scripts must not run at the same time. The server " +
      "also refuses a `mac` that is not a known port of the node. The server stores the SHA-256 of the script's token, " +
      "not the token.",
    ...rights(deps, "BooterHandover"),
    ...REPEATABLE,
    request: { params: CnParam, body: jsonBody(DeliveredScript.extend({ mac: Mac })) },
    responses: answers(CnView, "The node"),
  });
  app.openapi(deliveredRoute, async (c) => {
    const { server_uuid } = c.req.valid("param");
    const outcome = await deps.send(c, { kind: "cn", id: server_uuid }, {
      type: "setup_delivered",
      ...c.req.valid("json"),
    });
    return outcome.ok ? c.json(withoutClaims(outcome.reply), 200) : faultResponse(c, outcome.fault);
  });

  const findRoute = createRoute({
    method: "get",
    path: "/v2/booter/setup-scripts/{token_sha256}",
    tags,
    summary: "Find the setup run of a script's token",
    ...rights(deps, "BooterHandover"),
    request: { params: z.object({ token_sha256: Sha256 }) },
    responses: answers(
      SetupScript,
      "The run, if it is in progress, or if it succeeded and its deadline has not passed",
    ),
  });
  app.openapi(findRoute, async (c) => {
    const found = await findSetupScript(deps.kysely, c.req.valid("param").token_sha256);
    return found === null ? faultResponse(c, NOT_FOUND) : c.json(found, 200);
  });

  const bundleRoute = createRoute({
    method: "post",
    path: "/v2/booter/cns/{server_uuid}/setup-script/bundle",
    tags,
    summary: "Get the setup bundle for a script that another booter sent",
    description: "Needs the token of the script. The server refuses the request after the first report of the run.",
    ...rights(deps, "BooterHandover"),
    request: { params: CnParam, body: jsonBody(BundleHandover) },
    responses: answers(SetupBundle, "The bundle, including its secrets"),
  });
  app.openapi(bundleRoute, async (c) => {
    const { server_uuid } = c.req.valid("param");
    const { epoch, token } = c.req.valid("json");
    const token_sha256 = createHash("sha256").update(token).digest("hex");
    const outcome = await deps.sendOnce(c, { kind: "cn", id: server_uuid }, {
      type: "hand_over_bundle",
      epoch,
      token_sha256,
    });
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    const bundle = await openSetupBundle(deps, { server_uuid, epoch });
    return bundle === null ? faultResponse(c, REPORTED) : c.json(bundle, 200);
  });
}

const REPORTED = conflict("the setup run has reported or ended by now; its bundle can no longer be fetched");
