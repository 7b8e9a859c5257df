// Resolves the credential of a request to a principal. The Authorization header contains an API key, a token of another
// issuer (with the claim `iss`), or a token of our own sessions (without `iss`). Only `Bearer` is accepted. Without the
// header, the cookie of the web console is used. Each kind has its own reader and its own algorithms, so that a token
// is never checked by the rules of another kind.
import { decodeJwt, errors } from "jose";
import { TOKEN_CHARS_MAX } from "../contract/limits.ts";
import type { Db } from "../db/pool.ts";
import { parseApiKey } from "../lib/ids/api-key.ts";
import { createApiKeyCredential } from "./api-key-credential.ts";
import type { IssuerCredentials } from "./issuer-credential.ts";
import type { Principal } from "./principal.ts";
import { createSessionCredential, createWebSessionCredential } from "./session-credential.ts";
import type { SessionTokens } from "./token.ts";

export type Credential = {
  readonly principal: Principal;
  /** True if the credential is the key of a node, and the node has not used the key before. */
  readonly pending: boolean;
  /** Seconds since the last recorded use of a session of the web console; undefined for other credentials. */
  readonly idle_s?: number;
};

/** The credentials of a request. The header has precedence over the token of the cookie. */
export type Presented = { readonly authorization: string | undefined; readonly cookie: string | undefined };

export type CredentialOptions = {
  readonly db: Db;
  readonly tokens: SessionTokens;
  /** The issuer of the identity service; null: the site has no identity service. */
  readonly identity_issuer: string | null;
  readonly issuers: Pick<IssuerCredentials, "ofToken">;
};

const ANONYMOUS: Credential = { principal: { kind: "anonymous" }, pending: false };
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Returns the function that resolves credentials. */
export function createCredentials({ db, tokens, identity_issuer, issuers }: CredentialOptions) {
  const ofApiKey = createApiKeyCredential(db);
  const source = { db, identity_issuer };
  const ofSession = createSessionCredential(source, tokens);
  const ofWebSession = createWebSessionCredential(source, tokens);

  /**
   * Returns the anonymous principal if the request has no credential, and null if its credential is bad. Throws when
   * the database or the issuer fails.
   */
  return async function credential({ authorization: header, cookie }: Presented): Promise<Credential | null> {
    if (header === undefined) return cookie === undefined ? ANONYMOUS : await ofWebSession(cookie);
    if (!header.startsWith("Bearer ")) return null;
    const text = header.slice("Bearer ".length);
    const key = parseApiKey(text);
    if (key !== null) return await ofApiKey(key);
    if (text.length > TOKEN_CHARS_MAX || !TOKEN.test(text)) return null;
    const issuer = claimedIssuer(text);
    if (issuer === null) return null;
    return issuer === undefined ? await ofSession(text) : await issuers.ofToken(text, issuer);
  };
}

/**
 * Returns the unverified `iss` claim: undefined if the token has no such claim, null if the token or the claim is
 * malformed. The token's reader verifies the claim later.
 */
function claimedIssuer(token: string): string | undefined | null {
  try {
    const { iss } = decodeJwt(token);
    return iss === undefined || (typeof iss === "string" && isStorable(iss)) ? iss : null;
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

/**
 * Returns whether PostgreSQL can store the text: it has no NUL and no unpaired surrogates. No issuer's name contains
 * such characters.
 */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

export type Credentials = ReturnType<typeof createCredentials>;
