// What an API key can be told.
import type { ApiKeyState } from "./state.ts";

export type ApiKeyMessage =
  | (Omit<ApiKeyState, "state" | "created_at" | "tenant_id"> & {
    readonly type: "create";
    /** Default: none. */
    readonly tenant_id?: string | null;
  })
  /** Deleted by its owner, through a key that may be bound to a tenant; what is not its own is as good as absent. */
  | { readonly type: "delete"; readonly user_id: string; readonly through_tenant_id: string | null }
  /** Deleted as one of the keys of this tenant; the key of another is as good as absent. */
  | { readonly type: "delete_of_tenant"; readonly tenant_id: string }
  /** Deleted together with what it belonged to. */
  | { readonly type: "revoke" };
