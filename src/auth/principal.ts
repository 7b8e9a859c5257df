// Defines the type of a caller. A credential resolves to exactly one principal; nothing else in a request determines
// the caller or its tenant.
import type { Capability, KeyScope } from "../contract/enums.ts";

/** The user behind a credential, and the tenant in which the credential acts. */
export type Person = {
  readonly user_id: string;
  readonly username: string;
  /** False for a root operator's key that is bound to a tenant: such a key acts inside that tenant. */
  readonly is_root: boolean;
  readonly capabilities: readonly Capability[];
  /** The tenant that the key is bound to, or else the tenant of the user; null if there is neither. */
  readonly tenant_id: string | null;
  /**
   * The silo that the user administers: the silo of the user's tenant, if the user has the capability silo-admin. Null
   * for other users, and for a key that is bound to a tenant.
   */
  readonly silo_id: string | null;
  /**
   * The silo of `tenant_id`. Members and keys of the tenant see and use the images and SSH keys that belong to the
   * silo.
   */
  readonly home_silo_id: string | null;
};

export type Principal =
  | { readonly kind: "anonymous" }
  | Person & {
    readonly kind: "user";
    /**
     * The API key that the caller sent, or that opened the caller's session of the web console. Null without such a
     * key.
     */
    readonly key_id: string | null;
    /**
     * The expiry of this key; null if there is no key, or if the key has no expiry. A session that the key opened may
     * end earlier.
     */
    readonly key_expires_at: Date | null;
    /** The tenant that the key is bound to; null for a token and for the user's own keys. */
    readonly key_tenant_id: string | null;
    /** The login session of the token; null for keys and for tokens of other issuers. */
    readonly session_id: string | null;
    /**
     * The scope of the key or token. A login session has the scope that it was granted, or `full` if none was granted.
     */
    readonly scope: KeyScope;
    /** The compute node that the credential is bound to; null for other credentials. */
    readonly bound_cn: string | null;
    /**
     * The expiry of the key, session or token; null for a key without an expiry, and for a session that was found by
     * its id (credential-reference.ts).
     */
    readonly expires_at: Date | null;
  };

/** A caller whose credential was accepted. */
export type KnownPrincipal = Extract<Principal, { kind: "user" }>;
