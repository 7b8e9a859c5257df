// Reads and writes the cookie of a session of the web console, and checks that a page of this server sent the request.
// A browser adds the cookie to requests by itself, so a request that writes must show that no other site caused it
// (docs/web-console.md, "Sessions").
import type { Context } from "hono";
import { type Fault, fault } from "../contract/fault.ts";
import type { HttpEnv } from "../http/env.ts";

/** A browser accepts a cookie with the prefix __Host- only with Secure, with Path=/ and without Domain. */
const NAME = "__Host-berth";
const ATTRIBUTES = "Path=/; Secure; HttpOnly; SameSite=Strict";
const VALUE = /(?:^|;\s*)__Host-berth=([\w.-]+)\s*(?:;|$)/;
/**
 * The content types that a form can send. A browser sends them for a page of another site without first asking the
 * server.
 */
const FORM_TYPE = /^(?:text\/plain|multipart\/form-data|application\/x-www-form-urlencoded)\b/i;

const FOREIGN: Fault = fault("forbidden", "only pages of this server may use a session of the web console", {
  error_code: "Forbidden",
});

/** Returns the token in a Cookie header; undefined without the cookie. */
export function webSessionToken(cookies: string | undefined): string | undefined {
  return VALUE.exec(cookies ?? "")?.[1];
}

/** Returns the Set-Cookie header that stores the token for `max_age_s` seconds. */
export function webSessionCookie(token: string, max_age_s: number): string {
  return `${NAME}=${token}; Max-Age=${max_age_s}; ${ATTRIBUTES}`;
}

/** The Set-Cookie header that deletes the token. */
export const NO_WEB_SESSION = webSessionCookie("", 0);

/**
 * Returns null for a request that only reads. Also returns null if a page of this server sent the request with a
 * content type that a form cannot send. Otherwise returns the refusal.
 */
export function foreignWrite(c: Context<HttpEnv>): Fault | null {
  const reads = c.req.method === "GET" || c.req.method === "HEAD";
  const isForm = FORM_TYPE.test(c.req.header("content-type") ?? "");
  return reads || (!isForm && senderOf(c) === "own") ? null : FOREIGN;
}

/**
 * Returns the refusal if a browser sent the request, but no page of this server did. Accepts a program, which sends
 * neither Sec-Fetch-Site nor Origin.
 */
export function foreignPage(c: Context<HttpEnv>): Fault | null {
  return senderOf(c) === "other" ? FOREIGN : null;
}

/**
 * Returns `own` if a page of this server sent the request, and `unknown` for a program or an old browser. Returns
 * `other` for any other request of a browser, also if the user typed the address.
 */
function senderOf(c: Context<HttpEnv>): "own" | "other" | "unknown" {
  const site = c.req.header("sec-fetch-site");
  if (site !== undefined) return site === "same-origin" ? "own" : "other";
  const origin = c.req.header("origin");
  if (origin === undefined) return "unknown";
  const host = c.req.header("host");
  return host !== undefined && URL.parse(origin)?.host === host ? "own" : "other";
}
