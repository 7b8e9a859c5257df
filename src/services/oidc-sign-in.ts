// Signs in users of an issuer to the web console. Users of a tenant sign in at the tenant's issuer, operators at the
// identity service. One request begins a sign-in, and another request ends the sign-in. The state between these
// requests is sealed in a cookie. Therefore a sign-in can end only in the browser that began it.
import { randomBytes } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { z } from "zod";
import { findIdpClient } from "../../actors/idp/reads.ts";
import { findSessionEpoch } from "../../actors/user/reads.ts";
import type { IdentityService, IssuerCredentials } from "../auth/issuer-credential.ts";
import { IssuerUnavailable } from "../auth/issuer-document.ts";
import type { Mint } from "../auth/mint.ts";
import type { OidcClient, OidcClients } from "../auth/oidc-client.ts";
import type { KnownPrincipal } from "../auth/principal.ts";
import { OIDC_RANDOM_BYTES, OIDC_SIGN_IN_S } from "../contract/limits.ts";
import type { Database } from "../db/tables.ts";
import { isLoopback } from "../lib/net/client-address.ts";
import type { Opening } from "./web-session.ts";

/**
 * Why a sign-in failed:
 * - unknown: the tenant has no issuer with a client, its issuer changed during the sign-in, or the site has no identity
 *   service with a client.
 * - expired: this browser did not begin the sign-in, or began it too long ago.
 * - denied: the issuer refused.
 * - refused: the server does not accept the token or its user.
 * - unavailable: the issuer does not answer, or its answer is invalid.
 */
export type OidcFailure = "unknown" | "expired" | "denied" | "refused" | "unavailable";

type Deps = {
  readonly kysely: Kysely<Database>;
  readonly mint: Pick<Mint, "openIdpSecret" | "sealOidcSignIn" | "openOidcSignIn">;
  readonly clients: OidcClients;
  readonly issuers: Pick<IssuerCredentials, "ofSignIn">;
  readonly identity: IdentityService | null;
  /** Whether this server has a certificate. */
  readonly tls: boolean;
  readonly report: (message: string, error: unknown) => void;
};

const Remembered = z.strictObject({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  issuer: z.string(),
  /** Null for a sign-in at the identity service. */
  tenant_id: z.string().nullable(),
  return_path: z.string(),
  ends_at_ms: z.number(),
});
type Remembered = z.infer<typeof Remembered>;

export type OidcStart = {
  readonly tenant_id: string | null;
  readonly return_path: string;
  readonly redirect_uri: string;
};
export type OidcReturn = {
  /** The sealed value of the cookie. */
  readonly sealed: string | undefined;
  readonly state: string | undefined;
  readonly code: string | undefined;
  readonly iss: string | undefined;
  readonly redirect_uri: string;
};
export type OidcSignedIn = {
  readonly principal: KnownPrincipal;
  readonly opening: Opening;
  readonly return_path: string;
};

export type OidcSignIn = ReturnType<typeof createOidcSignIn>;

export function createOidcSignIn({ kysely, mint, clients, issuers, identity, tls, report }: Deps) {
  /** Begins a sign-in: returns the issuer's address for the browser, and the sealed value of the cookie. */
  async function start(
    { tenant_id, return_path, redirect_uri }: OidcStart,
  ): Promise<{ readonly location: string; readonly sealed: string } | OidcFailure> {
    const client = await clientOf(tenant_id);
    if (client === null) return "unknown";
    const [state, nonce, verifier] = [random(), random(), random()];
    const ends_at_ms = await now_ms() + OIDC_SIGN_IN_S * 1_000;
    const { issuer } = client;
    const remembered: Remembered = { state, nonce, verifier, issuer, tenant_id, return_path, ends_at_ms };
    const location = await unlessUnavailable(clients.authorizationUrl(client, redirect_uri, remembered));
    return location === "unavailable"
      ? location
      : { location, sealed: mint.sealOidcSignIn(JSON.stringify(remembered)) };
  }

  /** Ends a sign-in: checks the issuer's answer and returns the user. */
  async function finish({ sealed, state, code, iss, redirect_uri }: OidcReturn): Promise<OidcSignedIn | OidcFailure> {
    const remembered = sealed === undefined ? null : opened(sealed);
    if (remembered === null || remembered.state !== state || await now_ms() >= remembered.ends_at_ms) return "expired";
    if (code === undefined) return "denied";
    const { tenant_id, issuer, nonce, verifier, return_path } = remembered;
    const client = await clientOf(tenant_id);
    // The issuer was removed or replaced during the sign-in.
    if (client === null || client.issuer !== issuer) return "unknown";
    const credential = await unlessUnavailable(
      clients.idTokenOf(client, { code, iss, redirect_uri, verifier }).then((token) =>
        token === null ? null : issuers.ofSignIn(token, issuer, { client_id: client.client_id, nonce })
      ),
    );
    if (credential === "unavailable") return credential;
    const principal = credential?.principal;
    // Nodes cannot use the console. A tenant's issuer signs in only users of the tenant.
    if (principal === undefined || principal.kind === "anonymous" || principal.bound_cn !== null) return "refused";
    if (tenant_id !== null && principal.tenant_id !== tenant_id) return "refused";
    const opening = await openingOf(principal, tenant_id);
    return opening === null ? "refused" : { principal, opening, return_path };
  }

  /**
   * Returns the data that opens a session for the user; null if the user's account does not exist. For an operator, the
   * data includes the rights from the token of the identity service, because the account does not store them.
   */
  async function openingOf(principal: KnownPrincipal, tenant_id: string | null): Promise<Opening | null> {
    const { user_id, is_root, scope } = principal;
    const user_epoch = await findSessionEpoch(kysely, user_id);
    if (user_epoch === undefined) return null;
    const opening = { user_id, user_epoch, api_key_id: null };
    if (tenant_id !== null) return opening;
    return { ...opening, granted: { is_root, scope: scope === "full" ? "full" : "read_only" } };
  }

  async function clientOf(tenant_id: string | null): Promise<OidcClient | null> {
    if (tenant_id === null) {
      if (identity === null || identity.client === null) return null;
      const { issuer, jwks_url, client } = identity;
      return { issuer, jwks_url, client_id: client.id, client_secret: client.secret };
    }
    const row = await findIdpClient(kysely, tenant_id);
    if (row === undefined) return null;
    const client_secret = mint.openIdpSecret(tenant_id, row.client_secret);
    return { issuer: row.issuer_url, jwks_url: null, client_id: row.client_id, client_secret };
  }

  function opened(sealed: string): Remembered | null {
    try {
      return Remembered.safeParse(JSON.parse(mint.openOidcSignIn(sealed))).data ?? null;
    } catch {
      return null; // The cookie was changed, or was sealed with another secret.
    }
  }

  async function unlessUnavailable<T>(work: Promise<T>): Promise<T | "unavailable"> {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof IssuerUnavailable)) throw error;
      report("a user could not sign in at an issuer", error);
      return "unavailable";
    }
  }

  async function now_ms(): Promise<number> {
    const { rows } = await sql<{ now: Date }>`select berth_now() as now`.execute(kysely);
    return rows[0]!.now.getTime();
  }

  /**
   * Returns the origin of this server as the browser sees it: https, because the cookies work only over HTTPS. If the
   * host is localhost or a loopback address, the cookies also work over HTTP. Then the origin of a server without TLS
   * is http.
   */
  function originAt(host: string): string {
    const name = URL.parse(`http://${host}`)?.hostname ?? "";
    const isHere = name === "localhost" || isLoopback(name.replace(/^\[|\]$/g, ""));
    return `${isHere && !tls ? "http" : "https"}://${host}`;
  }

  return { start, finish, originAt };
}

function random(): string {
  return randomBytes(OIDC_RANDOM_BYTES).toString("base64url");
}
