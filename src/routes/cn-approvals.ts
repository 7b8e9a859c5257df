// Approval by claim code, and the auto-approve window. Document 2, Endpoints; document 4, 1.2 to 1.5.
import { createRoute } from "@hono/zod-openapi";
import { createMiddleware } from "hono/factory";
import { z } from "zod";
import { findApprovedBy } from "../../actors/cn/reads.ts";
import { findClaimByCode, type FoundClaim } from "../../actors/enrolment-claim/reads.ts";
import { findWindow } from "../../actors/site/reads.ts";
import { SITE } from "../../actors/site/transition.ts";
import { AutoApproveBody, AutoApproveWindow, CnApproval, CnView } from "../contract/cn.ts";
import { badRequest, isFault, NOT_FOUND } from "../contract/fault.ts";
import type { HttpEnv } from "../http/env.ts";
import { faultResponse } from "../http/fault-status.ts";
import { CLAIM_CODE_MESSAGE, parseClaimCode } from "../lib/ids/claim-code.ts";
import { answers, answersNothing, jsonBody, refuses, rights } from "./answer.ts";
import type { App, RouteDeps, Writes } from "./deps.ts";

type Deps = Writes & Pick<RouteDeps, "audit" | "limits" | "mint" | "newId" | "root_user_id">;

const tags = ["Approval"];

/** What a repeated approval carries, whose claim is gone: its stored answer is all that it can get. */
function noClaim(server_uuid: string, id: string): FoundClaim {
  const nothing = { admin_ip: null, sysinfo: {}, macs: [], serial: null, console_listen_port: null };
  const no_token = { registration_id: id, poll_token_sha256: "" };
  return { id, server_uuid, hostname: "", ...nothing, console_tls_spki_sha256_hex: null, ...no_token };
}

export function cnApprovalRoutes(app: App, deps: Deps): void {
  // Before the credential: an empty bucket answers 429 even to the right key with the right code.
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
    summary: "Approve the claim that has this code",
    description:
      "Exactly that claim: its hostname, admin_ip, sysinfo and MACs become the node's, the agent that made it " +
      "gets the key, and the other claims of the node end. Of an approved node, which was installed again, the bound key " +
      "is replaced in the same commit. A node that awaits setup or is set up takes no claim: 409. Per source address, BERTH_APPROVE_PER_MINUTE attempts a minute (default 10), checked before the " +
      "credential; over the whole site, 300 failed attempts an hour. Unknown, expired and used codes read the same 404.",
    ...approval,
    middleware: [limited, ...approval.middleware],
    ...refuses(404, 429),
    request: { body: jsonBody(CnApproval) },
    responses: answers(CnView, "The node, approved. Its key goes to its agent and nowhere else"),
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
    // The code of a repeated request is used up by now; its answer is found by the message it stands for.
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
    }
    return faultResponse(c, outcome.fault);
  });

  const showRoute = createRoute({
    method: "get",
    path: "/v1/cn-auto-approve",
    tags,
    summary: "Show the auto-approve window, or null",
    ...rights(deps, "AutoApproveGet"),
    responses: answers(AutoApproveWindow.nullable(), "The window, or null when none would approve a node now"),
  });
  app.openapi(showRoute, async (c) => c.json(await findWindow(deps.kysely), 200));

  const openRoute = createRoute({
    method: "post",
    path: "/v1/cn-auto-approve",
    tags,
    summary: "Open an auto-approve window",
    description: "New nodes that register while it is open are approved without a code, `count` of them at most. " +
      "It replaces a window that is open. Durations above 86,400 seconds are clamped.",
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
    responses: answersNothing("Closed, or there was none"),
  });
  app.openapi(closeRoute, async (c) => {
    const outcome = await deps.sendOnce(c, SITE, { type: "close_window" });
    return outcome.ok ? c.body(null, 204) : faultResponse(c, outcome.fault);
  });
}
