// Defines the routes for the registration of a node agent, and for the delivery of its key (docs/nodes.md, "The
// claim-code path").
import { createRoute } from "@hono/zod-openapi";
import { createMiddleware } from "hono/factory";
import { getRandomValues } from "node:crypto";
import type { z } from "zod";
import { findProofOfNode, findRegistered, type Registered } from "../../actors/cn/reads.ts";
import type { NodeProof } from "../../actors/cn/messages.ts";
import { findClaimByToken, firstExpiryIn } from "../../actors/enrolment-claim/reads.ts";
import type { RegistrationReply } from "../../actors/enrolment-claim/state.ts";
import { CLAIM_CODE_TAKEN, CLAIM_ENDED, CLAIMS_FULL } from "../../actors/enrolment-claim/transition.ts";
import type { Outcome } from "../../actors/engine/types.ts";
import { findWindow } from "../../actors/site/reads.ts";
import { sha256Hex } from "../auth/mint.ts";
import { RegisterStatusQuery, RegisterStatusView, Registration, RegistrationView } from "../contract/agent.ts";
import { badRequest, type Fault, fault, isFault, NOT_FOUND } from "../contract/fault.ts";
import {
  CLAIM_CODE_CHARS,
  CLAIM_CODE_TRIES_MAX,
  CLAIM_CODE_TTL_S,
  CLAIM_SYSINFO_BYTES_MAX,
  CLAIMS_PER_NODE_MAX,
} from "../contract/limits.ts";
import type { HttpEnv } from "../http/env.ts";
import { faultResponse } from "../http/fault-status.ts";
import { claimCodeFromBytes } from "../lib/ids/claim-code.ts";
import { addressBucket } from "../lib/net/client-address.ts";
import type { ReportedIdentity } from "../lib/ids/registration-identity.ts";
import { redactSysinfo } from "../lib/text/redact-sysinfo.ts";
import { answers, jsonBody, openRights, refuses, REPEATABLE } from "./answer.ts";
import type { App, Ctx, RouteDeps, Writes } from "./deps.ts";
import { hold } from "./long-poll.ts";
import { isNoIdentity, NO_IDENTITY_RULE } from "./identity.ts";

type Deps =
  & Writes
  & Pick<RouteDeps, "approvals" | "hold_ms" | "holdShares" | "limits" | "mint" | "newId" | "root_user_id">;

const tags = ["Node agent"];
type Registering = Outcome<RegistrationReply>;

/** The proof that the node itself sent a registration: the node's key or the node's poll token. */
type Proof = {
  /** The id of the node's key with which the registration was sent; null without such a key. */
  readonly key_id: string | null;
  /** The hash of the token in X-Poll-Token; null without such a token. */
  readonly token_sha256: string | null;
};

export function registrationRoutes(app: App, deps: Deps): void {
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
      "Needs no credential. Creates an enrolment claim: a claim code, a poll token and a copy of the body. The " +
      "answer has `state: pending` for every node. A claim makes a disabled node pending and does not change any " +
      "other existing node. When an operator approves the code, the node gets the data of the claim. The first " +
      "claim of an unknown server_uuid creates a pending record; an open auto-approve window approves it at once. " +
      "With the token of a live claim in X-Poll-Token, the claim is renewed and gets a new code and a new token. " +
      "The node's key in Authorization, or the node's token in X-Poll-Token, proves that the node itself sent the " +
      "request. The server then updates the record of an approved node, and the sysinfo of a node in setup. 403 for " +
      "the key of another node. 429 for more than " +
      `${CLAIMS_PER_NODE_MAX} live claims of a server_uuid, and for too many live claims of a source address or ` +
      "of the site; Retry-After is the time until the first of them expires. Without proof, sysinfo is limited to " +
      `${CLAIM_SYSINFO_BYTES_MAX / 1_024} KiB of JSON. Unknown fields are ignored.`,
    ...open,
    middleware: [limited, ...open.middleware],
    ...REPEATABLE,
    ...refuses(403, 429),
    request: { body: jsonBody(Registration) },
    responses: answers(RegistrationView, "The status of the registration, and the poll token"),
  });
  app.openapi(registerRoute, async (c) => {
    const body = c.req.valid("json");
    const proof = proofOf(c, body.server_uuid);
    const refusal = registrationRefusal(body) ?? (isFault(proof) ? proof : null);
    if (refusal !== null) return faultResponse(c, refusal);
    const outcome = await register(c, registrationOf(body), proof as Proof);
    if (!outcome.ok) return faultResponse(c, await withRetryAfter(c, body.server_uuid, outcome.fault));
    const { registration_id, ...reply } = outcome.reply;
    return c.json({ ...reply, poll_token: deps.mint.pollToken(registration_id ?? deps.newId()) }, 200);
  });

  /**
   * Updates the record of the node if the registration has proof. Otherwise approves an unknown node during an
   * auto-approve window, or creates or renews a claim.
   */
  async function register(c: Ctx, said: ReportedIdentity, { key_id, token_sha256 }: Proof): Promise<Registering> {
    const { server_uuid } = said;
    const record = await findProofOfNode(deps.kysely, server_uuid);
    const proof: NodeProof | null = key_id !== null
      ? { key_id }
      : token_sha256 !== null && token_sha256 === record?.poll_token_sha256
      ? { poll_token_sha256: token_sha256 }
      : null;
    if (proof !== null && record !== null && REFRESHED.has(record.state)) {
      const outcome = await deps.send(c, { kind: "cn", id: server_uuid }, {
        ...{ type: "refresh", ...said, ...ticket(), proof },
      });
      // After a conflict, the proof is no longer valid: the record has changed since the proof was checked.
      if (!isConflict(outcome)) return outcome;
    }
    if (jsonBytes(said.sysinfo) > CLAIM_SYSINFO_BYTES_MAX) return { ok: false, fault: SYSINFO_TOO_LARGE };
    if (record === null && await findWindow(deps.kysely) !== null) {
      const key = deps.mint.nodeKey(server_uuid, { id: deps.newId(), user_id: deps.root_user_id });
      const joined = await deps.send(c, { kind: "cn", id: server_uuid }, {
        ...{ type: "join", ...said, ...ticket(), key, operation_id: deps.newId() },
      });
      if (!isConflict(joined)) return joined;
    }
    return await claim(c, said, token_sha256);
  }

  /** Renews the claim of the token, or creates a claim. Tries another code if another claim has the same code. */
  async function claim(c: Ctx, said: ReportedIdentity, token_sha256: string | null): Promise<Registering> {
    const source = c.get("clientAddress");
    let renewed = token_sha256 === null
      ? undefined
      : await findClaimByToken(deps.kysely, said.server_uuid, token_sha256);
    for (let tries = 1;; tries += 1) {
      const fresh = { ...said, ...ticket(), ...code(), source };
      const id = renewed ?? deps.newId();
      const outcome = await deps.send(
        c,
        { kind: "enrolment-claim", id },
        renewed === undefined
          ? { ...fresh, type: "register", id, source_bucket: addressBucket(source) }
          : { ...fresh, type: "renew", proof_sha256: token_sha256! },
      );
      if (outcome.ok) return outcome;
      if (outcome.fault.message === CLAIM_ENDED.message) renewed = undefined;
      else if (outcome.fault.error_code !== CLAIM_CODE_TAKEN.error_code) return outcome;
      if (tries === CLAIM_CODE_TRIES_MAX) throw new Error("no free claim code was found");
    }
  }

  function ticket() {
    const registration_id = deps.newId();
    return { registration_id, poll_token_sha256: sha256Hex(deps.mint.pollToken(registration_id)) };
  }

  function code() {
    const claim_code = claimCodeFromBytes(getRandomValues(new Uint8Array(CLAIM_CODE_CHARS)));
    return { claim_code, claim_code_ttl_s: CLAIM_CODE_TTL_S };
  }

  /** Adds a Retry-After to a 429 for too many claims: the time until the first of them expires. */
  async function withRetryAfter(c: Ctx, server_uuid: string, refusal: Fault): Promise<Fault> {
    if (refusal.kind !== "too_many_requests") return refusal;
    const source_bucket = addressBucket(c.get("clientAddress"));
    const of = refusal.message === CLAIMS_FULL.node.message
      ? { server_uuid }
      : refusal.message === CLAIMS_FULL.source.message
      ? { source_bucket }
      : {};
    const retry_after_s = await firstExpiryIn(deps.kysely, of);
    return { ...refusal, message: `${refusal.message}; try again in ${retry_after_s} s`, retry_after_s };
  }

  const statusRoute = createRoute({
    method: "get",
    path: "/v1/agent/register/status",
    tags,
    summary: "Wait for approval and get the key",
    description:
      "Waits up to 30 s while the claim of the token is live. The token may be in the header X-Poll-Token instead of " +
      "the query. The server returns the key until the key is first used, so a lost answer can be requested again. " +
      "404 for a claim that ended without approval: it expired, another claim of the node was approved, or the node " +
      "was disabled or removed.",
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
    const held = await hold(c, deps, { polls: deps.approvals, key: hash, hold_ms: deps.hold_ms });
    if (isFault(held)) return faultResponse(c, held);
    // The claim of the token may have ended during the wait.
    const now = held.found ?? (await findRegistered(deps.kysely, [hash])).get(hash);
    if (now === undefined || "ended" in now) return faultResponse(c, NOT_FOUND);
    return c.json(delivery(now), 200);
  });

  function delivery(row: Registered): z.output<typeof RegisterStatusView> {
    const { state, server_uuid, pending_credential, ticket_keys } = row;
    if (state !== "approved" || pending_credential === null || ticket_keys === null) return { state, ...NOTHING };
    const api_key = deps.mint.openNodeKey(server_uuid, pending_credential);
    return { state, api_key, ...deps.mint.openTickets(server_uuid, ticket_keys) };
  }
}

/**
 * States in which a registration with proof updates the record. In other states, such a registration creates or renews
 * a claim.
 */
const REFRESHED: ReadonlySet<string> = new Set(["approved", "awaiting_setup", "setting_up"]);

const NOTHING = {
  api_key: null,
  console_ticket_key_hex: null,
  imds_token_key_hex: null,
  migrate_ticket_key_hex: null,
};

const SYSINFO_TOO_LARGE = badRequest(
  `sysinfo: must be at most ${
    CLAIM_SYSINFO_BYTES_MAX / 1_024
  } KiB of JSON in a registration without the node's key or poll token`,
);
const NOT_THIS_NODE = fault(
  "forbidden",
  "the key belongs to another node: its server_uuid is not the server_uuid of this registration",
  {
    error_code: "Forbidden",
  },
);

/** Reads the proof from the credential and the X-Poll-Token. A key that is not bound to a node is no proof. */
function proofOf(c: Ctx, server_uuid: string): Proof | Fault {
  const principal = c.get("principal");
  const bound_cn = principal.kind === "user" ? principal.bound_cn : null;
  if (bound_cn !== null && bound_cn !== server_uuid) return NOT_THIS_NODE;
  const token = c.req.header("x-poll-token");
  return {
    key_id: principal.kind === "user" && bound_cn !== null ? principal.key_id : null,
    token_sha256: token === undefined ? null : sha256Hex(token),
  };
}

function registrationOf(body: z.output<typeof Registration>): ReportedIdentity {
  return {
    server_uuid: body.server_uuid,
    hostname: body.hostname,
    admin_ip: body.admin_ip ?? null,
    sysinfo: redactSysinfo(body.sysinfo),
    console_listen_port: body.console_listen_port ?? null,
    console_tls_spki_sha256_hex: body.console_tls_spki_sha256_hex?.toLowerCase() ?? null,
    underlay_address: body.underlay_address ?? null,
    underlay_mtu: body.underlay_mtu ?? null,
  };
}

function isConflict(outcome: Outcome): boolean {
  return !outcome.ok && outcome.fault.kind === "conflict";
}

function jsonBytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

function registrationRefusal(body: z.output<typeof Registration>) {
  if (isNoIdentity(body.server_uuid)) return badRequest(NO_IDENTITY_RULE);
  const console = [body.console_listen_port ?? null, body.console_tls_spki_sha256_hex ?? null];
  if (console.filter((field) => field !== null).length === 1) {
    return badRequest("set both console_listen_port and console_tls_spki_sha256_hex, or neither");
  }
  return null;
}
