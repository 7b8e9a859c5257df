// Who is calling. A credential resolves to exactly one principal; nothing else of a request says who the caller is.
import type { KeyScope } from "../contract/enums.ts";

export type Principal =
  | { readonly kind: "anonymous" }
  | {
    readonly kind: "user";
    readonly user_id: string;
    readonly username: string;
    readonly is_root: boolean;
    /** The API key that was presented. */
    readonly key_id: string;
    readonly scope: KeyScope;
    /** The compute node a per-node key belongs to. */
    readonly bound_cn: string | null;
    readonly expires_at: Date | null;
  };

/** A caller whose credential was accepted. */
export type KnownPrincipal = Extract<Principal, { kind: "user" }>;

export const ANONYMOUS: Principal = { kind: "anonymous" };
