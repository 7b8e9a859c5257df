// What node agents call. Document 4, 1.3, 1.6 and 1.7.
import { createRoute } from "@hono/zod-openapi";
import { createMiddleware } from "hono/factory";
import { getRandomValues } from "node:crypto";
import { z } from "zod";
import { findCn, findRegistered, type Registered } from "../../actors/cn/reads.ts";
import { CLAIM_CODE_TAKEN } from "../../actors/cn/transition.ts";
import { type RegistrationReply, reservoirView } from "../../actors/cn/view.ts";
import type { Outcome } from "../../actors/engine/types.ts";
import {
  AgentConfig,
  CapacityReport,
  RegisterStatusQuery,
  RegisterStatusView,
  Registration,
  RegistrationView,
  StatusReport,
} from "../contract/agent.ts";
import { badRequest, fault, NOT_FOUND } from "../contract/fault.ts";
import { HeartbeatBody } from "../contract/job.ts";
import { CLAIM_CODE_CHARS, CLAIM_CODE_TRIES_MAX, CLAIM_CODE_TTL_S } from "../contract/limits.ts";
import { sha256Hex } from "../auth/mint.ts";
import { goneSignal, type HttpEnv } from "../http/env.ts";
import { faultResponse } from "../http/fault-status.ts";
import { claimCodeFromBytes } from "../pure/claim-code.ts";
import { redactSysinfo } from "../pure/redact-sysinfo.ts";
import { answers, ASKS, jsonBody, openRights, refuses, REPEATABLE, rights } from "./answer.ts";
import { nodeOf } from "./calling-node.ts";
import type { App, Ctx, RouteDeps } from "./deps.ts";
import { isNoIdentity, NO_IDENTITY_RULE } from "./identity.ts";
import { madeAt, reconcile } from "./reconcile.ts";

const tags = ["Node agent"];
const Done = z.null().describe("Taken");

export function agentRoutes(app: App, deps: RouteDeps): void {
  const limited = createMiddleware<HttpEnv>(async (c, next) => {
    const refusal = await deps.limits.register(c.get("clientAddress"));
    if (refusal !== null) return faultResponse(c, refusal);
    await next();
  });

  const open = openRights(deps, "AgentRegister");
  const registerRoute = createRoute({
    method: "post",
    path: "/v1/agent/register",
    tags,
    summary: "Register a node",
    description:
      "Anonymous. A new node gets a claim code, or is approved at once by an auto-approve window. A pending or " +
      "disabled node gets a new code; a known one refreshes what it says about itself. Unknown fields are ignored.",
    ...open,
    middleware: [limited, ...open.middleware],
    ...REPEATABLE,
    ...refuses(429),
    request: { body: jsonBody(Registration) },
    responses: answers(RegistrationView, "How the node stands, and the token to ask again with"),
  });
  app.openapi(registerRoute, async (c) => {
    const body = c.req.valid("json");
    const refusal = registrationRefusal(body);
    if (refusal !== null) return faultResponse(c, refusal);
    const outcome = await register(c, body);
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    const { registration_id, ...reply } = outcome.reply as RegistrationReply;
    return c.json({ ...reply, poll_token: deps.mint.pollToken(registration_id ?? deps.newId()) }, 200);
  });

  /** A code that another node shows is minted again, some times. */
  async function register(c: Ctx, body: z.output<typeof Registration>): Promise<Outcome> {
    const { server_uuid } = body;
    for (let tries = 1;; tries += 1) {
      const registration_id = deps.newId();
      const outcome = await deps.send(c, { kind: "cn", id: server_uuid }, {
        type: "register",
        server_uuid,
        hostname: body.hostname,
        admin_ip: body.admin_ip ?? null,
        sysinfo: redactSysinfo(body.sysinfo),
        console_listen_port: body.console_listen_port ?? null,
        console_tls_spki_sha256_hex: body.console_tls_spki_sha256_hex?.toLowerCase() ?? null,
        claim_code: claimCodeFromBytes(getRandomValues(new Uint8Array(CLAIM_CODE_CHARS))),
        claim_code_ttl_s: CLAIM_CODE_TTL_S,
        registration_id,
        poll_token_sha256: sha256Hex(deps.mint.pollToken(registration_id)),
        key: deps.mint.nodeKey(server_uuid, { id: deps.newId(), user_id: deps.root_user_id }),
        operation_id: deps.newId(),
      });
      if (outcome.ok || outcome.fault.error_code !== CLAIM_CODE_TAKEN.error_code) return outcome;
      if (tries === CLAIM_CODE_TRIES_MAX) throw new Error("no free claim code was found");
    }
  }

  const statusRoute = createRoute({
    method: "get",
    path: "/v1/agent/register/status",
    tags,
    summary: "Wait for approval and take the key",
    description:
      "Held up to 30 s while the node is pending. The token may be sent in the header X-Poll-Token instead of the " +
      "query. The key is handed out until the node has first used it, so a lost answer can be asked for again.",
    ...openRights(deps, "AgentRegisterStatus"),
    ...refuses(404),
    request: { query: RegisterStatusQuery },
    responses: answers(RegisterStatusView, "The state and, once approved, the node's secrets"),
  });
  app.openapi(statusRoute, async (c) => {
    const token = c.req.valid("query").poll_token ?? c.req.header("x-poll-token");
    if (token === undefined) return faultResponse(c, badRequest("poll_token: is required"));
    const hash = sha256Hex(token);
    const found = (await findRegistered(deps.kysely, [hash])).get(hash);
    if (found === undefined) return faultResponse(c, NOT_FOUND);
    if (found.state !== "pending") return c.json(delivery(found), 200);
    const later = await deps.approvals.wait(hash, deps.hold_ms, goneSignal(c));
    if (later === "full") return faultResponse(c, TOO_MANY_WAIT);
    return c.json(delivery(later ?? found), 200);
  });

  function delivery(row: Registered): z.output<typeof RegisterStatusView> {
    const { state, server_uuid, pending_credential, ticket_keys } = row;
    if (state !== "approved" || pending_credential === null || ticket_keys === null) return { state, ...NOTHING };
    const api_key = deps.mint.openNodeKey(server_uuid, pending_credential);
    return { state, api_key, ...deps.mint.openTickets(server_uuid, ticket_keys) };
  }

  const heartbeatRoute = createRoute({
    method: "post",
    path: "/v1/agent/heartbeat",
    tags,
    summary: "Say that the node is alive, and which jobs it runs",
    description: "The leases of the named jobs begin anew. A job that is not named fails when its lease is over.",
    ...rights(deps, "AgentHeartbeat"),
    ...ASKS,
    request: { body: { ...jsonBody(HeartbeatBody), required: false } },
    responses: answers(Done, "Noted"),
  });
  app.openapi(heartbeatRoute, async (c) => {
    const node = nodeOf(c);
    // Without a body there is nothing to read.
    const { running_jobs } = c.req.valid("json") ?? {};
    const refusals = await Promise.all([
      deps.signals.heartbeat(node),
      deps.signals.running(node, running_jobs ?? []),
    ]);
    const refusal = refusals.find((each) => each !== null);
    return refusal === undefined ? c.json(null, 200) : faultResponse(c, refusal);
  });

  const reportRoute = createRoute({
    method: "post",
    path: "/v1/agent/status",
    tags,
    summary: "Replace the node's last status",
    description:
      "What `vms` says of the node's instances wins over their records, except while an operation is at work. " +
      "`timestamp` (RFC 3339) says when the node made the report, by its own clock. A report with one that is not later " +
      "than that of the last report taken since the node was approved is answered and has no effect, except that the " +
      "node was seen: an agent gives each report a later time than the one before, also when its clock was set back.",
    ...rights(deps, "AgentStatus"),
    ...ASKS,
    request: { body: jsonBody(StatusReport) },
    responses: answers(Done, "Stored"),
  });
  app.openapi(reportRoute, async (c) => {
    const { payload } = c.req.valid("json");
    const told = { id: deps.newId(), made_at: madeAt(payload) };
    const refusal = await deps.signals.status(nodeOf(c), redactSysinfo(payload), told);
    if (refusal !== null) return faultResponse(c, refusal);
    await reconcile(c, deps, { ...told, payload });
    return c.json(null, 200);
  });

  const capacityRoute = createRoute({
    method: "post",
    path: "/v1/agent/capacity",
    tags,
    summary: "Replace the node's capacity",
    ...rights(deps, "CnCapacityReport"),
    ...ASKS,
    request: { body: jsonBody(CapacityReport) },
    responses: answers(Done, "Stored"),
  });
  app.openapi(capacityRoute, async (c) => {
    const refusal = await deps.signals.capacity(nodeOf(c), c.req.valid("json"));
    return refusal === null ? c.json(null, 200) : faultResponse(c, refusal);
  });

  const configRoute = createRoute({
    method: "get",
    path: "/v1/agent/config",
    tags,
    summary: "Read the node's effective configuration",
    ...rights(deps, "AgentConfig"),
    responses: answers(AgentConfig, "Effective values; the node clamps the percent to 0.0 to 1.0"),
  });
  app.openapi(configRoute, async (c) => {
    const [row, defaults] = await Promise.all([findCn(deps.kysely, nodeOf(c)), deps.settings.reservoir()]);
    if (row === undefined) return faultResponse(c, NOT_FOUND);
    const { effective_enabled, effective_percent } = reservoirView(row, defaults);
    return c.json({
      reservoir_enabled: effective_enabled,
      reservoir_percent: effective_percent,
      root_authorized_keys: await deps.settings.rootAuthorizedKeys(),
      state: row.state,
      admin_ip: row.admin_ip,
    }, 200);
  });
}

const NOTHING = {
  api_key: null,
  console_ticket_key_hex: null,
  imds_token_key_hex: null,
  migrate_ticket_key_hex: null,
};

const TOO_MANY_WAIT = fault("unavailable", "too many requests are waiting; try again", { retry_after_s: 5 });

function registrationRefusal(body: z.output<typeof Registration>) {
  if (isNoIdentity(body.server_uuid)) return badRequest(NO_IDENTITY_RULE);
  const console = [body.console_listen_port ?? null, body.console_tls_spki_sha256_hex ?? null];
  if (console.filter((field) => field !== null).length === 1) {
    return badRequest("console_listen_port and console_tls_spki_sha256_hex: give both or neither");
  }
  return null;
}
