// Reads and writes the cookie that a browser keeps while its user signs in at an issuer. The cookie is Lax, because the
// issuer's page sends the browser back. Its value is sealed (docs/web-console.md, "Sign-in with an identity provider").
import { OIDC_SIGN_IN_S } from "../contract/limits.ts";

const NAME = "__Host-berth-oidc";
const ATTRIBUTES = "Path=/; Secure; HttpOnly; SameSite=Lax";
const VALUE = /(?:^|;\s*)__Host-berth-oidc=([\w.-]+)\s*(?:;|$)/;

/** Returns the sealed value in a Cookie header; undefined without the cookie. */
export function oidcCookieValue(cookies: string | undefined): string | undefined {
  return VALUE.exec(cookies ?? "")?.[1];
}

/** Returns the Set-Cookie header that stores the sealed value. */
export function oidcCookie(sealed: string): string {
  return `${NAME}=${sealed}; Max-Age=${OIDC_SIGN_IN_S}; ${ATTRIBUTES}`;
}

/** The Set-Cookie header that deletes the cookie. */
export const NO_OIDC_COOKIE = `${NAME}=; Max-Age=0; ${ATTRIBUTES}`;
