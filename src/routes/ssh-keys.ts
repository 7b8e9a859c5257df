// Defines the routes for SSH keys (docs/instances.md).
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findSshKey, listPublicSshKeys, listSshKeys } from "../../actors/ssh-key/reads.ts";
import { callerOf } from "../auth/authorize.ts";
import { atScoped } from "../auth/resource-scope.ts";
import { page, Uuid } from "../contract/common.ts";
import { badRequest, isFault, NOT_FOUND } from "../contract/fault.ts";
import { LabelQuery } from "../contract/labels.ts";
import type { ScopeColumns } from "../contract/scope.ts";
import { SshKey, SshKeyBody } from "../contract/ssh-key.ts";
import { faultResponse } from "../http/fault-status.ts";
import { pageById } from "../http/page.ts";
import { parseOpensshKey } from "../lib/crypto/openssh-key.ts";
import { scopedId } from "../lib/ids/scope.ts";
import { answers, answersCreated, jsonBody, openRights, rights, wholeList } from "./answer.ts";
import type { App, Ctx, Writes } from "./deps.ts";
import { deleteRecord, renameRecord } from "./record-routes.ts";
import { LEVELS, PUBLIC, PublicQuery, publicScopeFault, scopeAt, scopeOfUser } from "./scopes.ts";

type Deps = Writes;

const tags = ["SSH keys"];
const path = "/v1/ssh-keys/{key_id}";
const params = z.object({ key_id: Uuid });
const atKey = atScoped("ssh_key", "key_id");
const ABOUT =
  "One line in the format of OpenSSH: Ed25519, ECDSA on the NIST curves, RSA with at least 2,048 bits, or a " +
  "security key. The comment is kept. 400 if options precede the type.";

const sshKey = {
  kind: "ssh-key",
  tags,
  path,
  params,
  id: "key_id",
  schema: SshKey,
  described: "The key",
  locate: atKey,
  has_labels: true,
} as const;

const byLabel = z.object({ label: LabelQuery });

export function sshKeyRoutes(app: App, deps: Deps): void {
  ownRoutes(app, deps);

  const listPublicRoute = createRoute({
    method: "get",
    path: "/v1/ssh-keys",
    tags,
    summary: "List the public SSH keys",
    ...openRights(deps, "SshKeyListPublic"),
    request: { query: PublicQuery.extend(byLabel.shape) },
    responses: answers(page(SshKey), "The keys"),
  });
  app.openapi(listPublicRoute, async (c) => {
    const refused = publicScopeFault(c);
    if (refused !== null) return faultResponse(c, refused);
    const { label: labels, ...query } = c.req.valid("query");
    const result = await pageById(query, (at) => listPublicSshKeys(deps.kysely, { labels, ...at }));
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const createPublicRoute = createRoute({
    method: "post",
    path: "/v1/ssh-keys",
    tags,
    summary: "Create a public SSH key",
    description: ABOUT,
    ...rights(deps, "SshKeyCreatePublic"),
    request: { body: jsonBody(SshKeyBody) },
    responses: answersCreated(SshKey, "The key"),
  });
  app.openapi(createPublicRoute, async (c) => {
    const outcome = await make(c, { deps, scope: PUBLIC, body: c.req.valid("json") });
    return outcome.ok ? c.json(outcome.reply, 201) : faultResponse(c, outcome.fault);
  });

  const showRoute = createRoute({
    method: "get",
    path,
    tags,
    summary: "Show an SSH key",
    ...openRights(deps, "SshKeyGet", atKey),
    request: { params },
    responses: answers(SshKey, "The key"),
  });
  app.openapi(showRoute, async (c) => {
    const found = await findSshKey(deps.byKey, c.req.valid("param").key_id);
    return found === undefined ? faultResponse(c, NOT_FOUND) : c.json(found, 200);
  });

  renameRecord(app, deps, {
    ...sshKey,
    action: "SshKeyUpdate",
    summary: "Rename, describe or label an SSH key",
    description: "The key itself never changes. 403 for a key that the caller may see but not change.",
  });

  deleteRecord(app, deps, {
    ...sshKey,
    action: "SshKeyDelete",
    summary: "Delete an SSH key",
    description: "Instances that have the key keep it. 403 for a key that the caller may see but not delete.",
  });

  for (const level of LEVELS) levelRoutes(app, deps, level);
}

/**
 * Adds the routes for keys of the calling user. A caller whose key is bound to a tenant sees and creates only keys of
 * that tenant.
 */
function ownRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/auth/ssh-keys",
    tags,
    summary: "List the caller's SSH keys, oldest first",
    ...rights(deps, "SshKeyListOwn"),
    request: { query: byLabel },
    responses: answers(z.array(SshKey), "The keys"),
  });
  app.openapi(listRoute, async (c) => {
    const { label: labels } = c.req.valid("query");
    const list = (rows: number) => listSshKeys(deps.kysely, scopeOfCaller(c), { rows, labels });
    const keys = await wholeList("narrow it with label=", list);
    return isFault(keys) ? faultResponse(c, keys) : c.json(keys, 200);
  });

  const createKeyRoute = createRoute({
    method: "post",
    path: "/v1/auth/ssh-keys",
    tags,
    summary: "Create an SSH key of the caller",
    description: ABOUT,
    ...rights(deps, "SshKeyCreateOwn"),
    request: { body: jsonBody(SshKeyBody) },
    responses: answersCreated(SshKey, "The key"),
  });
  app.openapi(createKeyRoute, async (c) => {
    const outcome = await make(c, { deps, scope: scopeOfCaller(c), body: c.req.valid("json") });
    return outcome.ok ? c.json(outcome.reply, 201) : faultResponse(c, outcome.fault);
  });
}

function levelRoutes(app: App, deps: Deps, { of, about, path, params, locate }: (typeof LEVELS)[number]): void {
  const listRoute = createRoute({
    method: "get",
    path: `${path}/ssh-keys`,
    tags,
    summary: `List the SSH keys of ${of}, oldest first`,
    ...rights(deps, "SshKeyList", locate),
    request: { params, query: byLabel },
    responses: answers(z.array(SshKey), "The keys"),
  });
  app.openapi(listRoute, async (c) => {
    const { label: labels } = c.req.valid("query");
    const list = (rows: number) => listSshKeys(deps.kysely, scopeAt(c), { rows, labels });
    const keys = await wholeList("narrow it with label=", list);
    return isFault(keys) ? faultResponse(c, keys) : c.json(keys, 200);
  });

  const createKeyRoute = createRoute({
    method: "post",
    path: `${path}/ssh-keys`,
    tags,
    summary: `Create an SSH key of ${of}`,
    description: ABOUT + about,
    ...rights(deps, "SshKeyCreate", locate),
    request: { params, body: jsonBody(SshKeyBody) },
    responses: answersCreated(SshKey, "The key"),
  });
  app.openapi(createKeyRoute, async (c) => {
    const outcome = await make(c, { deps, scope: scopeAt(c), body: c.req.valid("json") });
    return outcome.ok ? c.json(outcome.reply, 201) : faultResponse(c, outcome.fault);
  });
}

type Wanted = {
  readonly deps: Deps;
  readonly scope: ScopeColumns;
  readonly body: z.infer<typeof SshKeyBody>;
};

async function make(c: Ctx, { deps, scope, body }: Wanted) {
  const { name, description, labels, public_key } = body;
  const parsed = parseOpensshKey(public_key);
  if ("error" in parsed) {
    return { ok: false, fault: badRequest(`invalid openssh public key: ${parsed.error}`) } as const;
  }
  const idempotency = await deps.idempotency(c);
  if (isFault(idempotency)) return { ok: false, fault: idempotency } as const;
  const { fingerprint, line } = parsed;
  const id = scopedId(scope, fingerprint);
  const message = { type: "create", ...scope, id, name, description, labels, public_key: line, fingerprint } as const;
  return await deps.send(c, { kind: "ssh-key", id }, message, idempotency);
}

function scopeOfCaller(c: Ctx): ScopeColumns<"user"> {
  const { user_id, key_tenant_id } = callerOf(c);
  return scopeOfUser(user_id, key_tenant_id);
}
