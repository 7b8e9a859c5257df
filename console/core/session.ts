// Holds the session of the signed-in user. Its token is in a cookie that scripts cannot read (docs/web-console.md,
// "Sessions").
import { signal } from "@preact/signals";
import type { Capability } from "../../src/contract/enums.ts";
import type { Whoami } from "../../src/contract/api-key.ts";
import { get, refusalOf, send, whenUnauthenticated } from "./client.ts";
import { store } from "./store.ts";
import { say } from "./toast.ts";

/**
 * "checking": before the first answer. "out": no session. "in": a session. "ended": the session ended while the page
 * was in use, so the page stays visible under the sign-in form. "unreachable": the server did not answer,
 * or cannot say now who the caller is.
 */
export type SessionState = "checking" | "out" | "in" | "ended" | "unreachable";
export const session = signal<SessionState>("checking");
/** The owner of the session; null before the first sign-in. */
export const me = signal<Whoami | null>(null);

export type Credential = { readonly username: string; readonly password: string } | { readonly api_key: string };

const SESSION_PATH = "/v1/console/session";
const UNAUTHENTICATED = 401;
const FORBIDDEN = 403;
const SIGNED_OUT: readonly number[] = [UNAUTHENTICATED, FORBIDDEN];

whenUnauthenticated(() => {
  if (session.peek() === "in") session.value = "ended";
});

/** Asks the server who the caller is, at the start of the page. */
export async function findSession(): Promise<void> {
  try {
    me.value = await get<Whoami>("/v1/auth/whoami");
    session.value = "in";
  } catch (error) {
    session.value = SIGNED_OUT.includes(refusalOf(error).status) ? "out" : "unreachable";
  }
}

/** Signs in. Throws a Refusal with the server's error message. */
export async function signIn(credential: Credential): Promise<void> {
  const before = me.peek()?.user_id;
  me.value = await send<Whoami>("POST", SESSION_PATH, { body: credential });
  session.value = "in";
  if (before === me.value.user_id) store.changed("all");
  else store.clear();
}

/**
 * Ends the session at the server and in this page. If the server did not end the session, the page stays as it is and
 * shows a message, because only the server can remove the cookie.
 */
export async function signOut(): Promise<void> {
  try {
    await send("DELETE", SESSION_PATH);
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal.status !== UNAUTHENTICATED) return say(`You are still signed in: ${refusal.message}`);
  }
  session.value = "out";
  me.value = null;
  store.clear();
}

/** Whether the caller sees the operators' pages. */
export function isOperator(): boolean {
  const who = me.value;
  return who !== null && who.tenant_id === null && (who.is_root || who.capabilities.length > 0);
}

/** Returns why the caller may not act as the root operator; null if the caller may. */
export function rootOnly(): string | null {
  return me.value?.is_root === true ? fullScopeOnly() : "Only the root operator may do this";
}

/** Returns why the caller may not do what a capability permits; null if the caller may. */
export function needs(capability: Capability): string | null {
  const who = me.value;
  return who?.is_root === true || who?.capabilities.includes(capability) === true
    ? fullScopeOnly()
    : `Only users with the capability ${capability} may do this`;
}

/** Returns why the caller may not write in a tenant; null if the caller may. Users see only their own tenant. */
export function writersOnly(): string | null {
  const who = me.value;
  return who !== null && who.tenant_id === null && !who.is_root
    ? "Only members of the tenant may do this"
    : fullScopeOnly();
}

/** Returns why the caller may not act on instances as an operator or in a tenant; null if the caller may. */
export function operatorsAndWriters(): string | null {
  return needs("system-operate") === null ? null : writersOnly();
}

/** Returns why the caller's key permits no change; null if the key permits changes, or if there is no key. */
export function fullScopeOnly(): string | null {
  const scope = me.value?.scope ?? null;
  return scope === null || scope === "full" ? null : `A key with the scope ${scope} may not do this`;
}
