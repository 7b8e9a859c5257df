// The messages to an API key.
import type { ApiKeyState } from "./state.ts";

export type ApiKeyMessage =
  | (Omit<ApiKeyState, "state" | "created_at" | "tenant_id"> & {
    readonly type: "create";
    /** The default is null: the key acts as its owner. */
    readonly tenant_id?: string | null;
  })
  /** Deletes a key of the caller. A key of another owner is a 404, and a key outside the tenant of a bound caller, too. */
  | { readonly type: "delete"; readonly user_id: string; readonly through_tenant_id: string | null }
  /** Deletes a key of this tenant. A key of another tenant is a 404. */
  | { readonly type: "delete_of_tenant"; readonly tenant_id: string }
  /** Deletes the key together with its node. */
  | { readonly type: "revoke" };
