// The endpoint and the credential: from flags first, then the environment, then the one login that `tenantctl login`
// saved.
import { checkToken, type Connection } from "../internal/connection.ts";
import { parseEndpoint } from "../internal/endpoint.ts";
import { EXIT } from "../internal/exit-code.ts";
import { Failure, usageFailure } from "../internal/failure.ts";
import { DEFAULT_PROFILE, type Session } from "../internal/profile.ts";
import { isDue, renewSession } from "../internal/session.ts";
import type { Environment } from "../internal/environment.ts";
import type { Flags } from "./flags.ts";
import { readLogin, writeLogin } from "./session/saved-login.ts";
import { USER_AGENT } from "./user-agent.ts";

const TOKEN_VARIABLES = ["TENANTCTL_API_KEY", "TENANTCTL_ACCESS_TOKEN"] as const;

export async function resolveConnection(environment: Environment, flags: Flags): Promise<Connection> {
  const endpoint = await resolveEndpoint(environment, flags);
  return { endpoint, ...await resolveToken(environment, flags, endpoint) };
}

/** Returns the endpoint. Throws a usage Failure if no flag, variable or saved login has one. */
export async function resolveEndpoint(environment: Environment, flags: Flags): Promise<string> {
  if (flags.endpoint !== undefined) return parseEndpoint(flags.endpoint, "--endpoint");
  const named = environment.env.TENANTCTL_ENDPOINT;
  if (named) return parseEndpoint(named, "TENANTCTL_ENDPOINT");
  const saved = await readLogin(environment);
  if (saved !== null) return saved.endpoint;
  throw usageFailure("no endpoint: pass --endpoint, set TENANTCTL_ENDPOINT, or run tenantctl login");
}

async function resolveToken(
  environment: Environment,
  flags: Flags,
  endpoint: string,
): Promise<Omit<Connection, "endpoint">> {
  if (flags.apiKey !== undefined) return { token: checkToken(flags.apiKey, "--api-key") };
  for (const name of TOKEN_VARIABLES) {
    const value = environment.env[name];
    if (value) return { token: checkToken(value, name) };
  }
  const saved = await readLogin(environment);
  if (saved === null) {
    throw new Failure("no credential: pass --api-key, set TENANTCTL_API_KEY, or run tenantctl login", EXIT.auth);
  }
  // A key must not be sent to a server that did not issue it.
  if (saved.endpoint !== endpoint) {
    throw usageFailure(`the saved credential is for ${saved.endpoint}, not ${endpoint}; pass --api-key`);
  }
  return "api_key" in saved ? { token: saved.api_key } : ofSession(saved);
}

function ofSession(saved: Session): Omit<Connection, "endpoint"> {
  return { token: saved.access_token, session: { profile: DEFAULT_PROFILE, saved } };
}

/** Returns the connection with a new token, which is also saved. Returns a connection with an API key unchanged. */
export async function renewConnection(environment: Environment, refused: Connection): Promise<Connection> {
  const { endpoint, session } = refused;
  if (session === undefined) return refused;
  // Another command may have renewed the session or logged out since.
  const saved = await readLogin(environment);
  const expired_text = `the session has expired; run: tenantctl login --username ${session.saved.username}`;
  if (saved === null || "api_key" in saved || saved.endpoint !== endpoint) throw new Failure(expired_text, EXIT.auth);
  if (saved.access_token !== refused.token && !isDue(saved, environment.wallMs())) {
    return { endpoint, ...ofSession(saved) };
  }
  const tokens = await renewSession(environment, { endpoint, user_agent: USER_AGENT }, { tokens: saved, expired_text });
  const renewed = { endpoint, username: saved.username, ...tokens };
  await writeLogin(environment, renewed);
  return { endpoint, ...ofSession(renewed) };
}
