// The messages to an API key.
import type { ApiKeyState } from "./state.ts";

export type ApiKeyMessage =
  | (Omit<ApiKeyState, "state" | "created_at" | "tenant_id"> & {
    readonly type: "create";
    /** Null, the default, means that the key acts as its owner. */
    readonly tenant_id?: string | null;
  })
  /**
   * Deletes a key of the caller. The caller gets 404 for a key of another owner. A caller that uses a key bound to a
   * tenant also gets 404 for a key outside that tenant.
   */
  | { readonly type: "delete"; readonly user_id: string; readonly through_tenant_id: string | null }
  /** Deletes a key of this tenant. The caller gets 404 for a key of another tenant. */
  | { readonly type: "delete_of_tenant"; readonly tenant_id: string }
  /**
   * Deletes the key of a node. The node's record sends this message when the node is removed or reset, when it gets a
   * new key, or when its setup run ends without success.
   */
  | { readonly type: "revoke" }
  /**
   * Deletes a key that expired at least `kept_s` seconds ago. Maintenance sends this message. The key of a node is
   * kept, because the node's record refers to it.
   */
  | { readonly type: "expire"; readonly kept_s: number };
