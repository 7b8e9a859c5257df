// The messages to a user.
import type { Capability } from "../../src/contract/enums.ts";

/** The rights of the caller. A caller that is not root grants only rights that it has. */
export type Giver = {
  readonly is_root: boolean;
  readonly capabilities: readonly Capability[];
  readonly tenant_id: string | null;
};

export type UserMessage =
  | { readonly type: "create_root"; readonly id: string; readonly username: string }
  | {
    readonly type: "create";
    readonly id: string;
    readonly username: string;
    readonly password_hash: string;
    readonly tenant_id: string | null;
    /** The silo of the tenant; null if `tenant_id` is null, or if the caller may not see the tenant. */
    readonly silo_id: string | null;
    readonly capabilities: readonly Capability[];
    readonly by: Giver;
  }
  /** Creates a user when the first token for this user arrives from an issuer. */
  | {
    readonly type: "federate";
    readonly id: string;
    readonly username: string;
    readonly issuer: string;
    readonly subject: string;
    readonly tenant_id: string | null;
    readonly silo_id: string | null;
  }
  | { readonly type: "set_password"; readonly password_hash: string; readonly by: Giver }
  /** The user changes its own password. Refused if the password was changed since `session_epoch` was read. */
  | { readonly type: "change_password"; readonly password_hash: string; readonly session_epoch: number }
  | { readonly type: "grant"; readonly capability: Capability; readonly by: Giver }
  | { readonly type: "revoke_capability"; readonly capability: Capability }
  | { readonly type: "delete" };
