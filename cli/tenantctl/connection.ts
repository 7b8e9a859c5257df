// Where to connect and as whom: flags first, then the environment, then what `tenantctl login` saved. There is one saved
// login: document 3 has no profiles.
import { checkToken, type Connection } from "../kit/connection.ts";
import { parseEndpoint } from "../kit/endpoint.ts";
import { EXIT } from "../kit/exit-code.ts";
import { Failure, usageFailure } from "../kit/failure.ts";
import type { World } from "../kit/world.ts";
import type { Flags } from "./flags.ts";
import { readLogin } from "./session/saved-login.ts";

const TOKEN_VARIABLES = ["TENANTCTL_API_KEY", "TENANTCTL_ACCESS_TOKEN"] as const;

export async function resolveConnection(world: World, flags: Flags): Promise<Connection> {
  const endpoint = await resolveEndpoint(world, flags);
  return { endpoint, token: await resolveToken(world, flags, endpoint) };
}

/** Throws a usage Failure when nothing names an endpoint. */
export async function resolveEndpoint(world: World, flags: Flags): Promise<string> {
  if (flags.endpoint !== undefined) return parseEndpoint(flags.endpoint, "--endpoint");
  const named = world.env.TENANTCTL_ENDPOINT;
  if (named) return parseEndpoint(named, "TENANTCTL_ENDPOINT");
  const saved = await readLogin(world);
  if (saved !== null) return saved.endpoint;
  throw usageFailure("no endpoint: pass --endpoint, set TENANTCTL_ENDPOINT, or run tenantctl login");
}

async function resolveToken(world: World, flags: Flags, endpoint: string): Promise<string> {
  if (flags.apiKey !== undefined) return checkToken(flags.apiKey, "--api-key");
  for (const name of TOKEN_VARIABLES) {
    const value = world.env[name];
    if (value) return checkToken(value, name);
  }
  const saved = await readLogin(world);
  if (saved === null) {
    throw new Failure("no credential: pass --api-key, set TENANTCTL_API_KEY, or run tenantctl login", EXIT.auth);
  }
  // A key must not be handed to a server it was not made for.
  if (saved.endpoint !== endpoint) {
    throw usageFailure(`the saved credential is for ${saved.endpoint}, not ${endpoint}; pass --api-key`);
  }
  return saved.api_key;
}
