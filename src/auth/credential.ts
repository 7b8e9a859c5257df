// Resolves the Authorization header to a principal. Only `Bearer` is accepted, with one of three credentials: an API
// key, a token of another issuer (it has the claim `iss`), or a token of our own sessions (it does not). Each is
// checked by its own reader with its own algorithms, so that a token is never checked by the rules of another kind.
import { decodeJwt, errors } from "jose";
import { TOKEN_CHARS_MAX } from "../contract/limits.ts";
import type { Db } from "../db/pool.ts";
import { parseApiKey } from "../lib/ids/api-key.ts";
import { createApiKeyCredential } from "./api-key-credential.ts";
import { createIssuerKeys, type IssuerWeb } from "./issuer.ts";
import { createIssuerCredential, type IssuerOptions } from "./issuer-credential.ts";
import type { Principal } from "./principal.ts";
import { createSessionCredential } from "./session-credential.ts";
import type { SessionTokens } from "./token.ts";

/** The principal of a request. `pending` is true for the key of a node that has not used it before. */
export type Credential = { readonly principal: Principal; readonly pending: boolean };

export type CredentialOptions = Pick<IssuerOptions, "identity" | "federate"> & {
  readonly db: Db;
  readonly tokens: SessionTokens;
  readonly web: Omit<IssuerWeb, "identity">;
};

const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Returns the function that resolves credentials. */
export function createCredentials({ db, tokens, identity, federate, web }: CredentialOptions) {
  const ofApiKey = createApiKeyCredential(db);
  const ofSession = createSessionCredential(db, tokens);
  const ofIssuer = createIssuerCredential({ db, keys: createIssuerKeys({ ...web, identity }), identity, federate });

  /**
   * Returns the anonymous principal without a header, and null for a bad credential. Throws when the database or the
   * issuer fails.
   */
  return async function credential(header: string | undefined): Promise<Credential | null> {
    if (header === undefined) return { principal: { kind: "anonymous" }, pending: false };
    if (!header.startsWith("Bearer ")) return null;
    const text = header.slice("Bearer ".length);
    const key = parseApiKey(text);
    if (key !== null) return await ofApiKey(key);
    if (text.length > TOKEN_CHARS_MAX || !TOKEN.test(text)) return null;
    const issuer = claimedIssuer(text);
    if (issuer === null) return null;
    return issuer === undefined ? await ofSession(text) : await ofIssuer(text, issuer);
  };
}

/**
 * Returns the unverified `iss` claim: undefined if the token has none, null if the token is malformed. The token's
 * reader verifies the claim later.
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

/** Returns whether PostgreSQL can store the text: no NUL and no unpaired surrogates. No issuer's name contains them. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

export type Credentials = ReturnType<typeof createCredentials>;
