// A key is made once and deleted once. Deleting it is revocation: every process reads the row on every request.
import type { ApiKeyView } from "../../src/contract/api-key.ts";
import { NOT_FOUND } from "../../src/contract/fault.ts";
import { toRfc3339 } from "../../src/pure/instant.ts";
import { audit, go, refuse, remove } from "../engine/decide.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out } from "../engine/types.ts";
import type { ApiKeyMessage } from "./messages.ts";
import type { ApiKeyState } from "./state.ts";

type Live = At<ApiKeyState, "live">;
type Msg<T extends ApiKeyMessage["type"]> = Of<ApiKeyMessage, T>;

export const apiKeyTable: Table<ApiKeyState, ApiKeyMessage> = {
  create: { absent: create, live: "api key exists already" },
  delete: { absent: "missing", live: deleteOwn },
  revoke: { absent: "ignore", live: revoke },
};

function create(_s: null, m: Msg<"create">, now: Date): Out<ApiKeyState> {
  const { type: _type, ...row } = m;
  const note = { key_id: m.id, scope: m.scope, bound_to_cn: m.bound_to_cn, user_id: m.user_id };
  return go({ ...row, state: "live", created_at: now }, audit("create_api_key", resource(m.id), note));
}

function deleteOwn(s: Live, m: Msg<"delete">): Out<ApiKeyState> {
  return s.user_id === m.user_id ? revoke(s) : refuse(NOT_FOUND);
}

function revoke(s: Live): Out<ApiKeyState> {
  return go<ApiKeyState>(
    null,
    remove("api_key_use", { key_id: s.id }),
    audit("delete_api_key", resource(s.id), { key_id: s.id, scope: s.scope, bound_to_cn: s.bound_to_cn }),
  );
}

function resource(id: string): string {
  return `ApiKey::"${id}"`;
}

/** Document 4, 2.1: never the secret. `last_used_at` is a signal, which a list joins. */
export function apiKeyView(s: ApiKeyState): ApiKeyView {
  return {
    id: s.id,
    user_id: s.user_id,
    description: s.description,
    scope: s.scope,
    bound_to_cn: s.bound_to_cn,
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
};
