// What an API key can be told.
import type { KeyScope } from "../../src/contract/enums.ts";

export type ApiKeyMessage =
  | {
    readonly type: "create";
    readonly id: string;
    readonly lookup: string;
    readonly secret_sha256: string;
    readonly user_id: string;
    readonly description: string;
    readonly scope: KeyScope;
    readonly bound_to_cn: string | null;
    /** The tenant that the key acts inside; without one it acts as its owner. */
    readonly tenant_id?: string | null;
    readonly expires_at: Date | null;
  }
  /** Deleted by its owner, through a key that may be bound to a tenant; what is not its own is as good as absent. */
  | { readonly type: "delete"; readonly user_id: string; readonly through_tenant_id: string | null }
  /** Deleted as one of the keys of this tenant; the key of another is as good as absent. */
  | { readonly type: "delete_of_tenant"; readonly tenant_id: string }
  /** Deleted together with what it belonged to. */
  | { readonly type: "revoke" };
