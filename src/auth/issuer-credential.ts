// Resolves a token of another issuer to its user. The issuer is the identity service in the site's configuration, or an
// issuer that a tenant registered. A tenant's issuer can issue tokens only for that tenant. A token with a `cnf` claim
// (RFC 7800) that the server cannot check is refused.
import { z } from "zod";
import type { Capability } from "../contract/enums.ts";
import { SUBJECT_CHARS_MAX, TOKEN_LEEWAY_S } from "../contract/limits.ts";
import type { Db } from "../db/pool.ts";
import type { Credential } from "./credential.ts";
import type { IssuerKeys } from "./issuer.ts";
import type { Issuer } from "./issuer-document.ts";
import type { KnownPrincipal } from "./principal.ts";

/** The identity service, from the variables BERTH_IDENTITY_*. */
export type IdentityService = Issuer & {
  readonly audience: string;
  /**
   * The client of the site, with which operators sign in to the web console; null: operators cannot sign in this way.
   */
  readonly client: { readonly id: string; readonly secret: string } | null;
};

/** The client and the nonce that an ID token must contain. */
export type SignInExpected = { readonly client_id: string; readonly nonce: string };

export type Federated = {
  readonly issuer: string;
  readonly subject: string;
  readonly username: string;
  readonly tenant_id: string | null;
  readonly silo_id: string | null;
};

export type IssuerOptions = {
  readonly db: Db;
  readonly keys: IssuerKeys;
  readonly identity: IdentityService | null;
  /**
   * Creates the user when its first token arrives, and returns the user's id; null when the tenant no longer exists.
   */
  readonly federate: (user: Federated) => Promise<string | null>;
};

const seconds = z.number().min(0).max(Number.MAX_SAFE_INTEGER);
const Claims = z.object({
  iss: z.string(),
  sub: z.string().max(SUBJECT_CHARS_MAX).regex(/^[\x20-\x7e]+$/),
  aud: z.union([z.string(), z.array(z.string())]),
  exp: seconds,
  nbf: seconds.optional(),
  nonce: z.string().optional(),
  azp: z.string().optional(),
});
/** The claims of the identity service's tokens. `cnf` names the node that the token is for (RFC 7800). */
const IdentityClaims = Claims.extend({
  tenant_id: z.guid().nullish(),
  realm_scope: z.string().nullish(),
  scope: z.string().nullish(),
  cnf: z.strictObject({ server_uuid: z.guid() }).optional(),
});
const TenantClaims = Claims.extend({ cnf: z.undefined().optional() });

type IdpRow = {
  readonly tenant_id: string;
  readonly issuer_url: string;
  readonly client_id: string;
  readonly audience: string;
};
type KnownRow = {
  readonly now: Date;
  readonly tenant_id: string | null;
  readonly silo_id: string | null;
  readonly user_id: string | null;
  readonly capabilities: readonly Capability[] | null;
  readonly node_has_key: boolean;
};

const IDP = "select tenant_id, issuer_url, client_id, audience from tenant_idp where issuer_url = $1";
const KNOWN = `
  select berth_now() as now, t.id as tenant_id, t.silo_id, u.id as user_id, u.capabilities,
         exists (select from api_key k where k.bound_to_cn = $4) as node_has_key
    from (values ($1::uuid)) w(tenant_id) left join tenant t on t.id = w.tenant_id
    left join user_account u on u.issuer = $2 and u.subject = $3 and u.tenant_id is not distinct from w.tenant_id`;

const IDENTITY_ALGORITHMS = ["RS256"];
const TENANT_ALGORITHMS = ["RS256", "ES256", "EdDSA"];
const FULL_SCOPES: ReadonlySet<unknown> = new Set(["admin", "full"]);

export function createIssuerCredential({ db, keys, identity, federate }: IssuerOptions) {
  /**
   * Returns the credential of the token, or null if the token is not accepted. `iss` is the token's unverified issuer.
   */
  async function ofToken(token: string, iss: string): Promise<Credential | null> {
    return identity !== null && iss === identity.issuer
      ? await ofIdentityService(token, identity, null)
      : await ofTenant(token, iss, null);
  }

  /** Returns the credential of an ID token (OpenID Connect Core, 3.1.3.7), or null if the token is not accepted. */
  async function ofSignIn(token: string, iss: string, expected: SignInExpected): Promise<Credential | null> {
    return identity !== null && iss === identity.issuer
      ? await ofIdentityService(token, identity, expected)
      : await ofTenant(token, iss, expected);
  }

  async function ofIdentityService(
    token: string,
    service: IdentityService,
    signIn: SignInExpected | null,
  ): Promise<Credential | null> {
    const { issuer, jwks_url, audience } = service;
    const payload = await keys.verify(token, { issuer, jwks_url }, IDENTITY_ALGORITHMS);
    const claims = IdentityClaims.safeParse(payload).data;
    if (claims === undefined || !isFor(claims, { issuer, audiences: [audience], signIn })) return null;
    const node = claims.cnf?.server_uuid.toLowerCase() ?? null;
    const wanted = node === null ? claims.tenant_id?.toLowerCase() ?? null : null;
    const known = await readKnown({ claims, tenant_id: wanted, node });
    if (known === null || (node !== null && !known.row.node_has_key)) return null;
    // A node's token gives only the permissions of the node's agent. Its claims about a tenant or other permissions are
    // ignored.
    if (node !== null) return asUser(known, claims, { is_root: false, scope: "agent", bound_cn: node });
    const scope = FULL_SCOPES.has(claims.scope) ? "full" : "read_only";
    return asUser(known, claims, { is_root: claims.realm_scope === "system", scope, bound_cn: null });
  }

  async function ofTenant(token: string, iss: string, signIn: SignInExpected | null): Promise<Credential | null> {
    const idp = (await db.query<IdpRow>(IDP, [iss])).rows[0];
    if (idp === undefined) return null;
    const payload = await keys.verify(token, { issuer: idp.issuer_url, jwks_url: null }, TENANT_ALGORITHMS);
    const claims = TenantClaims.safeParse(payload).data;
    const audiences = [idp.audience, idp.client_id];
    if (claims === undefined || !isFor(claims, { issuer: idp.issuer_url, audiences, signIn })) return null;
    const known = await readKnown({ claims, tenant_id: idp.tenant_id, node: null });
    return known === null ? null : asUser(known, claims, { is_root: false, scope: "full", bound_cn: null });
  }

  type Claimed = z.infer<typeof Claims>;
  type Known = { readonly row: KnownRow; readonly user_id: string };

  /**
   * Finds or creates the user of the claims. Returns null when the token is expired or not valid yet, or when its
   * tenant does not exist.
   */
  async function readKnown(
    given: { readonly claims: Claimed; readonly tenant_id: string | null; readonly node: string | null },
  ): Promise<Known | null> {
    const { claims: { iss, sub, exp, nbf }, tenant_id, node } = given;
    const row = (await db.query<KnownRow>(KNOWN, [tenant_id, iss, sub, node])).rows[0]!;
    const now_s = row.now.getTime() / 1_000;
    if (now_s >= exp || (nbf !== undefined && nbf > now_s + TOKEN_LEEWAY_S)) return null;
    if (tenant_id !== null && row.tenant_id === null) return null;
    const user_id = row.user_id ??
      await federate({ issuer: iss, subject: sub, username: nameOf(sub, iss), tenant_id, silo_id: row.silo_id });
    return user_id === null ? null : { row, user_id };
  }

  function asUser(
    { row, user_id }: Known,
    { sub, iss, exp }: Claimed,
    rights: Pick<KnownPrincipal, "is_root" | "scope" | "bound_cn">,
  ): Credential {
    const isNode = rights.bound_cn !== null;
    return {
      principal: {
        kind: "user",
        user_id,
        username: nameOf(sub, iss),
        capabilities: isNode ? [] : row.capabilities ?? [],
        tenant_id: row.tenant_id,
        silo_id: !isNode && row.capabilities?.includes("silo-admin") ? row.silo_id : null,
        home_silo_id: row.silo_id,
        key_id: null,
        key_expires_at: null,
        key_tenant_id: null,
        session_id: null,
        expires_at: new Date(Math.min(exp * 1_000, INSTANT_MS_MAX)),
        ...rights,
      },
      pending: false,
    };
  }

  return { ofToken, ofSignIn };
}

export type IssuerCredentials = ReturnType<typeof createIssuerCredential>;

/** The end of the year 9999, the last instant that RFC 3339 can express. */
const INSTANT_MS_MAX = Date.UTC(10_000, 0) - 1;

type Expected = {
  readonly issuer: string;
  /** The audiences that a bearer token may have. The audiences of an ID token must include its client. */
  readonly audiences: readonly string[];
  readonly signIn: SignInExpected | null;
};

function isFor({ aud, iss, nonce, azp }: z.infer<typeof Claims>, { issuer, audiences, signIn }: Expected): boolean {
  const named = typeof aud === "string" ? [aud] : aud;
  if (iss !== issuer) return false;
  if (signIn === null) return named.some((each) => audiences.includes(each));
  const { client_id } = signIn;
  return named.includes(client_id) && nonce === signIn.nonce && (azp === undefined || azp === client_id);
}

function nameOf(sub: string, issuer: string): string {
  return `${sub}@${issuer}`;
}
