// Defines the routes for approvals by claim code, and for the auto-approve window (docs/nodes.md, "The claim-code
// path").
import { createRoute } from "@hono/zod-openapi";
import { createMiddleware } from "hono/factory";
import { z } from "zod";
import { findApprovedBy } from "../../actors/cn/reads.ts";
import { findClaimByCode, type FoundClaim } from "../../actors/enrolment-claim/reads.ts";
import { findWindow } from "../../actors/site/reads.ts";
import { SITE } from "../../actors/site/transition.ts";
import { AutoApproveBody, AutoApproveWindow, CnApproval, CnView } from "../contract/cn.ts";
import { badRequest, type Fault, isFault, NOT_FOUND } from "../contract/fault.ts";
import type { HttpEnv } from "../http/env.ts";
import { faultResponse } from "../http/fault-status.ts";
import { CLAIM_CODE_MESSAGE, parseClaimCode } from "../lib/ids/claim-code.ts";
import { answers, answersNothing, jsonBody, refuses, rights } from "./answer.ts";
import type { App, RouteDeps, Writes } from "./deps.ts";

type Deps = Writes & Pick<RouteDeps, "audit" | "limits" | "mint" | "newId" | "root_user_id">;

const tags = ["Approval"];

/** The fault for unknown, expired and used codes. It is the same for all three, so that codes cannot be enumerated. */
const NO_CLAIM: Fault = {
  ...NOT_FOUND,
  message:
    "no node is waiting with this claim code; check for a typo, or register the node again: codes expire after " +
    "an hour",
};

/**
 * Returns a placeholder for the claim of a repeated approval: the claim is already deleted, and the request gets its
 * stored reply.
 */
function noClaim(server_uuid: string, id: string): FoundClaim {
  const nothing = { admin_ip: null, sysinfo: {}, macs: [], serial: null, console_listen_port: null };
  const no_underlay = { underlay_address: null, underlay_mtu: null };
  const no_token = { registration_id: id, poll_token_sha256: "" };
  return { id, server_uuid, hostname: "", ...nothing, ...no_underlay, console_tls_spki_sha256_hex: null, ...no_token };
}

export function cnApprovalRoutes(app: App, deps: Deps): void {
  // Runs before the credential is checked. So even a request with a valid key and a valid code can get 429.
  const limited = createMiddleware<HttpEnv>(async (c, next) => {
    const refusal = await deps.limits.approve(c.get("clientAddress"));
    if (refusal !== null) return faultResponse(c, refusal);
    await next();
  });

  const approval = rights(deps, "CnApprove");
  const approveRoute = createRoute({
    method: "post",
    path: "/v1/cn-approvals",
    tags,
    summary: "Approve the claim with this code",
    description:
      "The node gets the hostname, admin_ip, sysinfo and MACs of the claim, and the agent that registered the claim " +
      "gets the key. Other claims of the node end. If the node was approved before and installed again, its key is " +
      "replaced in the same commit. 409 while the node awaits setup or is being set up. Limits: " +
      "BERTH_APPROVE_PER_MINUTE attempts per minute and source address (default 10), checked before the credential, " +
      "and 300 failed attempts per hour on the whole site. Unknown, expired and used codes get the same 404.",
    ...approval,
    middleware: [limited, ...approval.middleware],
    ...refuses(404, 429),
    request: { body: jsonBody(CnApproval) },
    responses: answers(CnView, "The node, approved. Only the node's agent gets the key"),
  });
  app.openapi(approveRoute, async (c) => {
    const code = parseClaimCode(c.req.valid("json").code);
    if (code === null) return faultResponse(c, badRequest(CLAIM_CODE_MESSAGE));
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const exhausted = await deps.limits.approveFailures();
    if (exhausted !== null) return faultResponse(c, exhausted);
    const claim = await findClaimByCode(deps.kysely, code);
    const principal = c.get("principal");
    // The code of a repeated request is already used, so its node is found by the message id.
    const id = claim?.server_uuid ??
      (idempotency.repeated ? await findApprovedBy(deps.kysely, idempotency.id) : undefined);
    const outcome = id === undefined ? { ok: false as const, fault: NOT_FOUND } : await deps.send(
      c,
      { kind: "cn", id },
      {
        type: "approve",
        claim_code: code,
        claim: claim ?? noClaim(id, deps.newId()),
        key: deps.mint.nodeKey(id, {
          id: deps.newId(),
          user_id: principal.kind === "user" ? principal.user_id : deps.root_user_id,
        }),
        operation_id: deps.newId(),
      },
      idempotency,
    );
    if (outcome.ok) return c.json(outcome.reply, 200);
    if (outcome.fault.kind === "not_found") {
      await deps.limits.noteApproveFailure();
      await deps.audit.refusedCode(c, code.slice(0, 3));
      return faultResponse(c, NO_CLAIM);
    }
    return faultResponse(c, outcome.fault);
  });

  const showRoute = createRoute({
    method: "get",
    path: "/v1/cn-auto-approve",
    tags,
    summary: "Show the auto-approve window, or null",
    ...rights(deps, "AutoApproveGet"),
    responses: answers(AutoApproveWindow.nullable(), "The window, or null when no window is open"),
  });
  app.openapi(showRoute, async (c) => c.json(await findWindow(deps.kysely), 200));

  const openRoute = createRoute({
    method: "post",
    path: "/v1/cn-auto-approve",
    tags,
    summary: "Open an auto-approve window",
    description:
      "While the window is open, new nodes that register are approved without a code, at most `count` of them. " +
      "Replaces an open window. A duration above 86,400 seconds counts as 86,400.",
    ...rights(deps, "AutoApproveSet"),
    request: { body: jsonBody(AutoApproveBody) },
    responses: answers(AutoApproveWindow, "The window"),
  });
  app.openapi(openRoute, async (c) => {
    const { duration_secs, count } = c.req.valid("json");
    const principal = c.get("principal");
    const opened_by = principal.kind === "user" ? principal.user_id : deps.root_user_id;
    const message = { type: "open_window", duration_secs, count: count ?? null, opened_by } as const;
    const outcome = await deps.sendOnce(c, SITE, message);
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });

  const closeRoute = createRoute({
    method: "delete",
    path: "/v1/cn-auto-approve",
    tags,
    summary: "Close the auto-approve window",
    ...rights(deps, "AutoApproveClear"),
    request: { query: z.object({}) },
    responses: answersNothing("No window is open. The answer is the same if none was open before"),
  });
  app.openapi(closeRoute, async (c) => {
    const outcome = await deps.sendOnce(c, SITE, { type: "close_window" });
    return outcome.ok ? c.body(null, 204) : faultResponse(c, outcome.fault);
  });
}
