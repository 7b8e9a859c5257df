// An API key is created once and deleted once. A delete revokes the key at once, because every process reads the row
// for every request.
import type { ApiKeyView } from "../../src/contract/api-key.ts";
import { badRequest, conflict, NOT_FOUND } from "../../src/contract/fault.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { lineFault } from "../../src/lib/text/resource-name.ts";
import { audit, go, lock, refuse, remove, withActor } from "../engine/effects.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out, Part } from "../engine/types.ts";
import type { ApiKeyMessage } from "./messages.ts";
import type { ApiKeyState } from "./state.ts";

type Live = At<ApiKeyState, "live">;
type Msg<T extends ApiKeyMessage["type"]> = Of<ApiKeyMessage, T>;

export const apiKeyTable: Table<ApiKeyState, ApiKeyMessage> = {
  create: { absent: create, live: "api key exists already" },
  delete: { absent: "missing", live: deleteOwn },
  delete_of_tenant: { absent: "missing", live: deleteOfTenant },
  revoke: { absent: "ignore", live: revokeKey },
  expire: { absent: "ignore", live: expire },
};

function create(_s: null, m: Msg<"create">, now: Date): Out<ApiKeyState> {
  const { type: _type, ...row } = m;
  const unreadable = lineFault("description", m.description);
  if (unreadable !== null) return refuse(unreadable);
  if (m.expires_at !== null && m.expires_at <= now) return refuse(EXPIRED);
  const tenant_id = m.tenant_id ?? null;
  return go(
    { ...row, state: "live", tenant_id, created_at: now },
    ...(tenant_id === null ? [] : [lock(lockKey("tenant", tenant_id), true)]),
    audit("create_api_key", resource(m.id), note({ ...m, tenant_id })),
  );
}

const EXPIRED = badRequest("expires_at: must be in the future");

/**
 * The caller gets 404 for a key of another user. A caller that uses a key bound to a tenant also gets 404 for keys
 * outside that tenant. If the deleted key belongs to a node, the same commit removes the reference in the node's
 * record. If the node's transition table refuses the removal, the whole delete is refused.
 */
function deleteOwn(s: Live, m: Msg<"delete">): Out<ApiKeyState> {
  const own = s.user_id === m.user_id && (m.through_tenant_id === null || s.tenant_id === m.through_tenant_id);
  if (!own) return refuse(NOT_FOUND);
  if (s.bound_to_cn === null) return revoke(s);
  return revoke(s, withActor({ kind: "cn", id: s.bound_to_cn }, { type: "key_deleted", key_id: s.id }));
}

function deleteOfTenant(s: Live, m: Msg<"delete_of_tenant">): Out<ApiKeyState> {
  return s.tenant_id === m.tenant_id ? revoke(s) : refuse(NOT_FOUND);
}

function revokeKey(s: Live): Out<ApiKeyState> {
  return revoke(s);
}

function expire(s: Live, { kept_s }: Msg<"expire">, now: Date): Out<ApiKeyState> {
  const kept_to_ms = s.expires_at === null ? Infinity : s.expires_at.getTime() + kept_s * MS_PER_S;
  return s.bound_to_cn !== null || now.getTime() < kept_to_ms ? { out: "ignore" } : revoke(s);
}

const MS_PER_S = 1_000;

function revoke(s: Live, ...parts: readonly Part<ApiKeyState>[]): Out<ApiKeyState> {
  return go<ApiKeyState>(
    null,
    ...parts,
    remove("api_key_use", { key_id: s.id }),
    audit("delete_api_key", resource(s.id), note(s)),
  );
}

function note({ id, scope, bound_to_cn, user_id, tenant_id }: Omit<ApiKeyState, "state" | "created_at">) {
  return { key_id: id, scope, bound_to_cn, user_id, ...(tenant_id !== null && { tenant_id }) };
}

function resource(id: string): string {
  return `ApiKey::"${id}"`;
}

/** Returns the view without the secret. `last_used_at` is null here; lists read it from another table. */
export function apiKeyView(s: ApiKeyState): ApiKeyView {
  return {
    id: s.id,
    user_id: s.user_id,
    description: s.description,
    scope: s.scope,
    bound_to_cn: s.bound_to_cn,
    tenant_id: s.tenant_id,
    created_at: toRfc3339(s.created_at),
    expires_at: s.expires_at === null ? null : toRfc3339(s.expires_at),
    last_used_at: null,
  };
}

export const apiKey: Behavior<ApiKeyState, ApiKeyMessage> = {
  kind: "api-key",
  table: "api_key",
  key: "id",
  step: (s, m, now) => runTable(apiKeyTable, s, m, now),
  deadline: () => null,
  view: apiKeyView,
  constraints: {
    api_key_user_id_fkey: conflict("a delete of the user and a create of its API key ran at the same time; try again"),
    api_key_tenant_id_fkey: conflict(
      "a delete of the tenant and a create of its API key ran at the same time; try again",
    ),
  },
};
