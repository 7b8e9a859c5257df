// Who is calling. A credential resolves to exactly one principal; nothing else of a request says who the caller is, or
// which tenant it belongs to.
import type { Capability, KeyScope } from "../contract/enums.ts";

/** The user behind a credential, in the tenant that it acts in. */
export type Person = {
  readonly user_id: string;
  readonly username: string;
  /** False for a root operator's key that is bound to a tenant: such a key acts inside that tenant. */
  readonly is_root: boolean;
  readonly capabilities: readonly Capability[];
  /** The tenant of the key, else of the user; null for operators. */
  readonly tenant_id: string | null;
  /**
   * The silo that it administers: that of its tenant, with the capability silo-admin. Null for all others, and for a key
   * that is bound to a tenant.
   */
  readonly silo_id: string | null;
  /** The silo of its tenant, for every member of the tenant and its keys: they see and use what is for the whole silo. */
  readonly home_silo_id: string | null;
};

export type Principal =
  | { readonly kind: "anonymous" }
  | Person & {
    readonly kind: "user";
    /** The API key that was presented; null for a token. */
    readonly key_id: string | null;
    /** The tenant the key is bound to, whoever owns it; null for a token and for the user's own keys. */
    readonly key_tenant_id: string | null;
    /** The login session that the token belongs to; null for keys and for tokens of other issuers. */
    readonly session_id: string | null;
    /** A token of a user has the scope full. */
    readonly scope: KeyScope;
    /** The compute node a per-node key belongs to. */
    readonly bound_cn: string | null;
    readonly expires_at: Date | null;
  };

/** A caller whose credential was accepted. */
export type KnownPrincipal = Extract<Principal, { kind: "user" }>;
