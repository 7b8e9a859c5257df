// Finds opsctl's endpoint and credential: first in flags, then in the environment, then in the profile. With --profile,
// the profile comes before the environment.
import { EXIT } from "./exit-code.ts";
import { parseEndpoint } from "./endpoint.ts";
import { Failure, usageFailure } from "./failure.ts";
import type { OutputFlags } from "./output/format.ts";
import {
  checkProfileName,
  DEFAULT_PROFILE,
  readCredentials,
  readProfiles,
  type Session,
  writeCredentials,
} from "./profile.ts";
import { isDue, renewSession } from "./session.ts";
import type { Environment } from "./environment.ts";

export type Globals = OutputFlags & {
  readonly endpoint?: string;
  readonly apiKey?: string;
  readonly profile?: string;
};
export type Connection = {
  readonly endpoint: string;
  readonly token: string;
  /** The saved session that the token belongs to; absent for an API key, and for a token from the environment. */
  readonly session?: SavedSession;
};
export type SavedSession = { readonly profile: string; readonly saved: Session };

export async function resolveConnection(environment: Environment, flags: Globals): Promise<Connection> {
  const endpoint = await resolveEndpoint(environment, flags);
  return { endpoint, ...await resolveToken(environment, flags, endpoint) };
}

/**
 * Returns the connection with a new token. Uses the saved token if another command has renewed it. If not, renews the
 * token and saves it. Returns a connection without a saved session unchanged. Throws a Failure if the session expired.
 */
export async function renewConnection(
  environment: Environment,
  refused: Connection,
  user_agent: string,
): Promise<Connection> {
  const { endpoint, session } = refused;
  if (session === undefined) return refused;
  const { profile } = session;
  // Another command may have renewed the session or logged out in the meantime.
  const saved = (await readCredentials(environment)).get(profile);
  const expired_text =
    `the session of profile ${profile} has expired; run: opsctl login --username ${session.saved.username}`;
  if (saved === undefined || "api_key" in saved || saved.endpoint !== endpoint) {
    throw new Failure(expired_text, EXIT.auth);
  }
  if (saved.access_token !== refused.token && !isDue(saved, environment.wallMs())) return ofSession(profile, saved);
  const tokens = await renewSession(environment, { endpoint, user_agent }, { tokens: saved, expired_text });
  const renewed = { endpoint, username: saved.username, ...tokens };
  await saveRenewed(environment, { profile, saved, renewed });
  return ofSession(profile, renewed);
}

type Renewed = { readonly profile: string; readonly saved: Session; readonly renewed: Session };

/**
 * Reads the credentials again, because other commands may have saved credentials during the renewal. Changes nothing if
 * the profile's credential was replaced or deleted meanwhile.
 */
async function saveRenewed(environment: Environment, { profile, saved, renewed }: Renewed): Promise<void> {
  const credentials = await readCredentials(environment);
  const now = credentials.get(profile);
  if (now === undefined || "api_key" in now || now.refresh_token !== saved.refresh_token) return;
  await writeCredentials(environment, credentials.set(profile, renewed));
}

function ofSession(profile: string, saved: Session): Connection {
  return { endpoint: saved.endpoint, token: saved.access_token, session: { profile, saved } };
}

/**
 * Returns the endpoint. Throws a usage Failure if the endpoint is missing or not valid, or if OPSCTL_ENDPOINT and
 * OPSCTL_PROFILE are both set.
 */
export async function resolveEndpoint(environment: Environment, flags: Globals): Promise<string> {
  const env_endpoint = envText(environment, "OPSCTL_ENDPOINT");
  if (env_endpoint !== undefined && envText(environment, "OPSCTL_PROFILE") !== undefined) {
    throw usageFailure("OPSCTL_ENDPOINT and OPSCTL_PROFILE are both set; unset one of them");
  }
  if (flags.endpoint !== undefined) return parseEndpoint(flags.endpoint, "--endpoint");
  // --profile is a flag, too, and flags override the environment.
  if (flags.profile === undefined && env_endpoint !== undefined) return parseEndpoint(env_endpoint, "OPSCTL_ENDPOINT");
  const name = await profileName(environment, flags);
  const saved = (await readProfiles(environment)).endpoints.get(name);
  if (saved !== undefined) return saved;
  const named = flags.profile ?? envText(environment, "OPSCTL_PROFILE");
  if (named !== undefined) throw usageFailure(`there is no profile ${name}; run: opsctl login --profile ${name}`);
  throw usageFailure("no endpoint: pass --endpoint, set OPSCTL_ENDPOINT, or run opsctl login");
}

async function resolveToken(
  environment: Environment,
  flags: Globals,
  endpoint: string,
): Promise<Omit<Connection, "endpoint">> {
  if (flags.apiKey !== undefined) return { token: checkToken(flags.apiKey, "--api-key") };
  for (const name of ["OPSCTL_API_KEY", "OPSCTL_ACCESS_TOKEN"]) {
    const value = envText(environment, name);
    if (flags.profile === undefined && value !== undefined) return { token: checkToken(value, name) };
  }
  const name = await profileName(environment, flags);
  const saved = (await readCredentials(environment)).get(name);
  if (saved === undefined) {
    throw new Failure("no credential: pass --api-key, set OPSCTL_API_KEY, or run opsctl login", EXIT.auth);
  }
  // A key must not be sent to a server that did not issue it.
  if (saved.endpoint !== endpoint) {
    throw usageFailure(`the credential of profile ${name} is for ${saved.endpoint}, not ${endpoint}; pass --api-key`);
  }
  return "api_key" in saved ? { token: saved.api_key } : ofSession(name, saved);
}

export async function profileName(environment: Environment, flags: Globals): Promise<string> {
  const named = flags.profile ?? envText(environment, "OPSCTL_PROFILE");
  if (named !== undefined) return checkProfileName(named);
  return (await readProfiles(environment)).default_profile ?? DEFAULT_PROFILE;
}

/**
 * Returns the token without surrounding whitespace. Throws if the token is not valid in a header; the error does not
 * contain the token.
 */
export function checkToken(token: string, source: string): string {
  const trimmed = token.trim();
  if (!/^[\x21-\x7e]+$/.test(trimmed)) {
    throw usageFailure(`${source} is not a key or token: it must be one line of printable ASCII without spaces`);
  }
  return trimmed;
}

function envText(environment: Environment, name: string): string | undefined {
  return environment.env[name] === "" ? undefined : environment.env[name];
}
