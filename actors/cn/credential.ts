// The key of a node, and the start of node-join, the operation that records the approval of the node. Registration
// and netboot setup both create the key with bindKey. Only registration starts node-join; setup has its own operation,
// cn-setup.
import { withActor } from "../engine/effects.ts";
import type { NewNodeKey } from "./messages.ts";
import type { On } from "./state.ts";

/**
 * Creates the node's key: scope agent, bound to the node. The owner is the operator who approved the claim code; after
 * a netboot setup or an automatic approval, the owner is the root operator.
 */
export function bindKey(server_uuid: string, key: NewNodeKey) {
  const { id, lookup, secret_sha256, user_id } = key;
  return withActor({ kind: "api-key", id }, {
    type: "create",
    id,
    lookup,
    secret_sha256,
    user_id,
    description: `agent: cn ${server_uuid}`,
    scope: "agent",
    bound_to_cn: server_uuid,
    expires_at: null,
  });
}

export function dropKey(id: string) {
  return withActor({ kind: "api-key", id }, { type: "revoke" });
}

export function startNodeJoin(s: On<"approved">, operation_id: string) {
  return withActor({ kind: "saga", id: operation_id }, {
    type: "start",
    id: operation_id,
    saga: "node-join",
    params: { server_uuid: s.server_uuid, hostname: s.hostname },
    references: [{ scope: "cn", id: s.server_uuid }],
  });
}
