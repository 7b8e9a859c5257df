// Logs in with a password, and renews the tokens of the session.
import type { LoginBody, Tokens } from "../../src/contract/identity.ts";
import { send } from "./api.ts";
import { EXIT } from "./exit-code.ts";
import { exchange, type Link } from "./exchange.ts";
import { Failure, failureOfAnswer } from "./failure.ts";
import type { Environment } from "./environment.ts";

export type Server = Pick<Link, "endpoint" | "user_agent">;

/** Tokens are renewed this long before they expire, so that no request arrives after its token has expired. */
const RENEW_BEFORE_MS = 60_000;
/** Time limit of a login. The server hashes the password, which takes time under load. */
const LOGIN_LIMIT_MS = 30_000;

/** Returns whether the access token could expire before a request arrives. */
export function isDue({ access_expires_at }: Tokens, wall_ms: number): boolean {
  return Date.parse(access_expires_at) - wall_ms < RENEW_BEFORE_MS;
}

/** Logs in without retries and without an Idempotency-Key. If the answer is lost, the user must log in again. */
export async function startSession(environment: Environment, server: Server, body: LoginBody): Promise<Tokens> {
  const call = { method: "POST", path: "/v1/auth/login", body, limit_ms: LOGIN_LIMIT_MS } as const;
  const answer = await exchange(environment, { ...server, token: null }, call);
  if (answer.status < 300) return answer.body as Tokens;
  throw failureOfAnswer(answer.status, answer.body, answer.retry_after_s);
}

/** Returns new tokens. Throws a Failure with `expired_text` if the server rejects the refresh token. */
export async function renewSession(
  environment: Environment,
  server: Server,
  { tokens, expired_text }: Renewal,
): Promise<Tokens> {
  const body = { refresh_token: tokens.refresh_token };
  try {
    return await send(environment, { ...server, token: null }, { method: "POST", path: "/v1/auth/refresh", body });
  } catch (error) {
    if (error instanceof Failure && error.status === 401) throw new Failure(expired_text, EXIT.auth, { status: 401 });
    throw error;
  }
}

export type Renewal = { readonly tokens: Tokens; readonly expired_text: string };

/** Returns the tokens in a saved record, or null if one is missing. */
export function tokensIn(saved: Readonly<Record<string, unknown>>): Tokens | null {
  const { access_token, refresh_token, access_expires_at, refresh_expires_at } = saved;
  const all = [access_token, refresh_token, access_expires_at, refresh_expires_at];
  if (!all.every((each) => typeof each === "string")) return null;
  return { access_token, refresh_token, access_expires_at, refresh_expires_at } as Tokens;
}
