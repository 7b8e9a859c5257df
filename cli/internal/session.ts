// A login by password: its tokens, and when they have to be exchanged for new ones.
import type { LoginBody, Tokens } from "../../src/contract/identity.ts";
import { send } from "./api.ts";
import { EXIT } from "./exit-code.ts";
import { exchange, type Link } from "./exchange.ts";
import { Failure, failureOfAnswer } from "./failure.ts";
import type { Environment } from "./environment.ts";

export type Place = Pick<Link, "endpoint" | "user_agent">;

/** Document 4, 2.10. */
const RENEW_BEFORE_MS = 60_000;
const LOGIN_LIMIT_MS = 30_000;

/** Whether the access token is so near its end that a request could arrive too late. */
export function isDue({ access_expires_at }: Tokens, wall_ms: number): boolean {
  return Date.parse(access_expires_at) - wall_ms < RENEW_BEFORE_MS;
}

/** One attempt only: nothing that could be compared with a password is kept at the server for the sake of a repetition. */
export async function startSession(environment: Environment, place: Place, body: LoginBody): Promise<Tokens> {
  const call = { method: "POST", path: "/v1/auth/login", body, limit_ms: LOGIN_LIMIT_MS } as const;
  const answer = await exchange(environment, { ...place, token: null }, call);
  if (answer.status < 300) return answer.body as Tokens;
  throw failureOfAnswer(answer.status, answer.body, answer.retry_after_s);
}

/** New tokens in place of these. Throws a Failure with `over` when the session has ended. */
export async function renewSession(environment: Environment, place: Place, { tokens, over }: Renewal): Promise<Tokens> {
  const body = { refresh_token: tokens.refresh_token };
  try {
    return await send(environment, { ...place, token: null }, { method: "POST", path: "/v1/auth/refresh", body });
  } catch (error) {
    if (error instanceof Failure && error.status === 401) throw new Failure(over, EXIT.auth, { status: 401 });
    throw error;
  }
}

export type Renewal = { readonly tokens: Tokens; readonly over: string };

/** The tokens among what was saved, or null when one is missing. */
export function tokensIn(saved: Readonly<Record<string, unknown>>): Tokens | null {
  const { access_token, refresh_token, access_expires_at, refresh_expires_at } = saved;
  const whole = [access_token, refresh_token, access_expires_at, refresh_expires_at];
  if (!whole.every((each) => typeof each === "string")) return null;
  return { access_token, refresh_token, access_expires_at, refresh_expires_at } as Tokens;
}
