// What a user can be told.
import type { Capability } from "../../src/contract/enums.ts";

/** Who asks, for the rule that nobody gives rights that it does not have. */
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
    readonly silo_id: string | null;
    readonly capabilities: readonly Capability[];
    readonly by: Giver;
  }
  /** An issuer vouches for somebody who was not here before. */
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
  /** By the user, who knew the password of that epoch. */
  | { readonly type: "change_password"; readonly password_hash: string; readonly session_epoch: number }
  | { readonly type: "grant"; readonly capability: Capability; readonly by: Giver }
  | { readonly type: "revoke_capability"; readonly capability: Capability }
  | { readonly type: "delete" };
