// Resolves the Authorization header to a principal. Only `Bearer` is accepted, with an API key, a token of another
// issuer (it has the claim `iss`), or a token of our own sessions (it has none). Each form has its own reader and its
// own algorithms, so that a token is never checked by the rules of another form.
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

/** `pending`: the key of a node that has not used it before. */
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

  /** Anonymous without a header; null for a bad credential. Throws when the database or the issuer fails. */
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
 * Returns the unverified `iss` claim; undefined without one, null for malformed tokens. The reader verifies it later.
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

/** PostgreSQL text cannot hold NUL or unpaired surrogates; no issuer's name contains them. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

export type Credentials = ReturnType<typeof createCredentials>;
