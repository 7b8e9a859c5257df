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
    readonly expires_at: Date | null;
  }
  /** Deleted by its owner; another user's key is as good as absent. */
  | { readonly type: "delete"; readonly user_id: string }
  /** Deleted together with what it belonged to. */
  | { readonly type: "revoke" };
