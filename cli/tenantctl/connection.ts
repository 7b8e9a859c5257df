// Finds the endpoint and the credential: first in --endpoint and --api-key, then in the environment, then in the login
// that `tenantctl login` saved in the profile. With --profile, the profile comes before the environment.
import { checkToken, type Connection } from "../internal/connection.ts";
import { parseEndpoint } from "../internal/endpoint.ts";
import { EXIT } from "../internal/exit-code.ts";
import { Failure, usageFailure } from "../internal/failure.ts";
import { nearNames } from "../../src/lib/text/near-names.ts";
import type { Session } from "../internal/profile.ts";
import { isDue, renewSession } from "../internal/session.ts";
import type { Environment } from "../internal/environment.ts";
import type { Flags } from "./flags.ts";
import { listProfiles, loginCommand, profileOf, readLogin, writeLogin } from "./session/saved-login.ts";
import { USER_AGENT } from "./user-agent.ts";

const TOKEN_VARIABLES = ["TENANTCTL_API_KEY", "TENANTCTL_ACCESS_TOKEN"] as const;

export async function resolveConnection(environment: Environment, flags: Flags): Promise<Connection> {
  const endpoint = await resolveEndpoint(environment, flags);
  return { endpoint, ...await resolveToken(environment, flags, endpoint) };
}

/**
 * Returns the endpoint. Throws a usage Failure if no flag, variable or saved login has one, or if TENANTCTL_ENDPOINT
 * and TENANTCTL_PROFILE are both set. Throws a Failure if the saved login is damaged.
 */
export async function resolveEndpoint(environment: Environment, flags: Flags): Promise<string> {
  const named = environment.env.TENANTCTL_ENDPOINT;
  if (named && environment.env.TENANTCTL_PROFILE) {
    throw usageFailure("TENANTCTL_ENDPOINT and TENANTCTL_PROFILE are both set; unset one of them");
  }
  if (flags.endpoint !== undefined) return parseEndpoint(flags.endpoint, "--endpoint");
  const by_name = () => parseEndpoint(named!, "TENANTCTL_ENDPOINT");
  // --profile is a flag, and flags override the environment. If the profile has no saved endpoint, as in a login that
  // creates the profile, TENANTCTL_ENDPOINT is used below.
  if (named && flags.profile === undefined) return by_name();
  const profile = await profileOf(environment, flags);
  const saved = await readLogin(environment, profile);
  if (saved !== null) return saved.endpoint;
  if (named) return by_name();
  const near = nearNames(await listProfiles(environment), profile);
  const hint = near.length === 0 ? "" : `; did you mean the profile ${near.join(" or ")}?`;
  throw usageFailure(`no endpoint: pass --endpoint, set TENANTCTL_ENDPOINT, or run ${loginCommand(profile)}${hint}`);
}

async function resolveToken(
  environment: Environment,
  flags: Flags,
  endpoint: string,
): Promise<Omit<Connection, "endpoint">> {
  if (flags.apiKey !== undefined) return { token: checkToken(flags.apiKey, "--api-key") };
  for (const name of TOKEN_VARIABLES) {
    const value = environment.env[name];
    if (value && flags.profile === undefined) return { token: checkToken(value, name) };
  }
  const profile = await profileOf(environment, flags);
  const saved = await readLogin(environment, profile);
  if (saved === null) {
    if (flags.profile !== undefined) {
      throw usageFailure(`there is no profile ${profile}; run: ${loginCommand(profile)}`);
    }
    const why = `no credential: pass --api-key, set TENANTCTL_API_KEY, or run ${loginCommand(profile)}`;
    throw new Failure(why, EXIT.auth);
  }
  // A key must not be sent to a server that did not issue it.
  if (saved.endpoint !== endpoint) {
    throw usageFailure(`the saved credential is for ${saved.endpoint}, not ${endpoint}; pass --api-key`);
  }
  return "api_key" in saved ? { token: saved.api_key } : ofSession(profile, saved);
}

function ofSession(profile: string, saved: Session): Omit<Connection, "endpoint"> {
  return { token: saved.access_token, session: { profile, saved } };
}

/**
 * Returns the connection with a new token. Uses the saved token if another command has renewed it. If not, renews the
 * token and saves it, unless the profile changed in the meantime. Does not change a connection without a session.
 * Throws a Failure if the session has expired.
 */
export async function renewConnection(environment: Environment, refused: Connection): Promise<Connection> {
  const { endpoint, session } = refused;
  if (session === undefined) return refused;
  // Another command may have renewed the session or logged out in the meantime.
  const { profile } = session;
  const saved = await readLogin(environment, profile);
  const expired_text = `the session has expired; run: ${loginCommand(profile)} --username ${session.saved.username}`;
  if (saved === null || "api_key" in saved || saved.endpoint !== endpoint) throw new Failure(expired_text, EXIT.auth);
  if (saved.access_token !== refused.token && !isDue(saved, environment.wallMs())) {
    return { endpoint, ...ofSession(profile, saved) };
  }
  const tokens = await renewSession(environment, { endpoint, user_agent: USER_AGENT }, { tokens: saved, expired_text });
  const renewed = { endpoint, username: saved.username, ...tokens };
  // Another command may have logged out or in during the renewal. Then the profile stays as it is.
  const now = await readLogin(environment, profile);
  if (now !== null && !("api_key" in now) && now.refresh_token === saved.refresh_token) {
    await writeLogin(environment, profile, renewed);
  }
  return { endpoint, ...ofSession(profile, renewed) };
}
