// From the Authorization header to a principal. One form is accepted, `Bearer`, and what follows it decides who reads it:
// an API key, a token of another issuer (which names itself), or a token of ours (which names none). Each has its own
// algorithms, so that no token is read by a rule that was made for another.
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

/** The principal, or null for a credential that is none. `pending` tells that its node has not used the key before. */
export type Credential = { readonly principal: Principal; readonly pending: boolean };

export type CredentialOptions = Pick<IssuerOptions, "identity" | "federate"> & {
  readonly db: Db;
  readonly tokens: SessionTokens;
  readonly web: Omit<IssuerWeb, "identity">;
};

const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Reads credentials of one process. */
export function createCredentials({ db, tokens, identity, federate, web }: CredentialOptions) {
  const ofApiKey = createApiKeyCredential(db);
  const ofSession = createSessionCredential(db, tokens);
  const ofIssuer = createIssuerCredential({ db, keys: createIssuerKeys({ ...web, identity }), identity, federate });

  /** Anonymous without a header; null for a header that proves nothing. A database or an issuer that fails throws. */
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

/** Undefined when the token names no issuer; null when it is no token. Believes nothing: whoever is named checks it. */
function claimedIssuer(token: string): string | undefined | null {
  try {
    const { iss } = decodeJwt(token);
    return iss === undefined || (typeof iss === "string" && isStorable(iss)) ? iss : null;
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

/** PostgreSQL text holds neither NUL nor half of a surrogate pair, and no issuer's name has them. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

export type Credentials = ReturnType<typeof createCredentials>;
