// Holds the session of the signed-in user. Its token is in a cookie that scripts cannot read (docs/web-console.md,
// "Sessions"). All tabs of the browser share the cookie, so another tab may sign in as another user. This page shows
// the data of one user. So when another user signs in, the page closes and sends no more writes.
import { signal } from "@preact/signals";
import type { Capability } from "../../src/contract/enums.ts";
import type { Whoami } from "../../src/contract/api-key.ts";
import { beforeWrites, get, Refusal, refusalOf, send, whenUnauthenticated } from "./client.ts";
import { store } from "./store.ts";
import { say } from "./toast.ts";

/**
 * - "checking": before the first answer.
 * - "out": no session.
 * - "in": a session.
 * - "ended": the session ended while the page was in use. The page stays visible under the sign-in form.
 * - "other": another user signed in while the page was in use. The page is closed.
 * - "unreachable": the server did not answer, or cannot say now who the caller is.
 */
export type SessionState = "checking" | "out" | "in" | "ended" | "other" | "unreachable";
export const session = signal<SessionState>("checking");
/** The owner of the session; null before the first sign-in and after a sign-out. */
export const me = signal<Whoami | null>(null);

export type Credential = { readonly username: string; readonly password: string } | { readonly api_key: string };

const WHOAMI_PATH = "/v1/auth/whoami";
const SESSION_PATH = "/v1/console/session";
const UNAUTHENTICATED = 401;
const FORBIDDEN = 403;
const SIGNED_OUT: readonly number[] = [UNAUTHENTICATED, FORBIDDEN];
/**
 * The item of the local storage that names the session of the browser. The browser reports changes of the item to other
 * tabs.
 */
const KEPT = "session";

whenUnauthenticated(() => {
  if (session.peek() === "in") session.value = "ended";
});

beforeWrites(async (method, path) => {
  if (me.peek() === null || method === "POST" && path === SESSION_PATH) return;
  await checkUser();
  if (session.peek() === "other") throw new Refusal(FORBIDDEN, "Not sent, because another user has signed in");
});

/** Asks the server who the caller is, at the start of the page. */
export async function findSession(): Promise<void> {
  try {
    enter(await get<Whoami>(WHOAMI_PATH));
  } catch (error) {
    session.value = SIGNED_OUT.includes(refusalOf(error).status) ? "out" : "unreachable";
  }
}

/** Signs in. Throws a Refusal with the server's error message. */
export async function signIn(credential: Credential): Promise<void> {
  const isFirst = me.peek() === null;
  enter(await send<Whoami>("POST", SESSION_PATH, { body: credential }));
  if (isFirst) store.clear();
}

/**
 * Asks the server whether the page's user is still signed in. Throws a Refusal if the server refuses the request or
 * does not answer.
 */
export async function checkUser(): Promise<void> {
  const who = await get<Whoami>(WHOAMI_PATH);
  // The user may have signed out during the request.
  if (me.peek() !== null) enter(who);
}

/** Checks the user when another tab signs in or out. A hidden page checks the user when it is shown again. */
export function watchSessions(): void {
  addEventListener("storage", ({ key }) => {
    if (key === KEPT && me.peek() !== null && document.visibilityState === "visible") checkUser().catch(() => {});
  });
}

/** Continues as this caller. If the user or the tenant is not the same as before, the page is closed. */
function enter(who: Whoami): void {
  if (session.peek() === "other") return;
  const before = me.peek();
  const isSame = before === null || before.user_id === who.user_id && before.tenant_id === who.tenant_id;
  session.value = isSame ? "in" : "other";
  me.value = who;
  localStorage.setItem(KEPT, [who.user_id, who.tenant_id, who.session_id ?? who.key_id].join(" "));
}

/**
 * Ends the session at the server and in this page. Only the server can remove the cookie. So if the server did not end
 * the session, the page stays as it is and shows a message.
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
  localStorage.removeItem(KEPT);
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

/** Returns why the caller may not use a capability; null if the caller may. */
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

/**
 * Returns why the caller may not change instances, as an operator or as a member of the tenant; null if the caller may.
 */
export function operatorsAndWriters(): string | null {
  return needs("system-operate") === null ? null : writersOnly();
}

/** Returns why the caller's key permits no changes; null if the key permits them, or if the caller has no key. */
export function fullScopeOnly(): string | null {
  const scope = me.value?.scope ?? null;
  return scope === null || scope === "full" ? null : `A key with the scope ${scope} may not do this`;
}
