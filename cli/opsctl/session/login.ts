import type { Whoami } from "../../../src/contract/api-key.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { checkToken, profileName, resolveEndpoint } from "../../kit/connection.ts";
import { isExposed, parseEndpoint } from "../../kit/endpoint.ts";
import { usageFailure } from "../../kit/failure.ts";
import { type Io, openIo } from "../../kit/io.ts";
import { plainText } from "../../kit/plain-text.ts";
import { readCredentials, readProfiles, writeCredentials, writeProfiles } from "../../kit/profile.ts";
import { withIo } from "../../kit/run.ts";

export function login(summary: string): AnyCommand {
  return command("login", summary)
    .option("--api-key-stdin", "read the API key from standard input instead of asking for it")
    .action(withIo(async (io, { apiKeyStdin }) => {
      const name = await profileName(io.world, io.flags);
      const endpoint = await loginEndpoint(io);
      if (isExposed(endpoint)) io.note(`warning: ${endpoint} is not encrypted; the key can be read on the way`);
      const api_key = await readKey(io, apiKeyStdin === true);
      const who = await verify(io, endpoint, api_key);
      await save(io, name, { endpoint, api_key });
      io.print(
        { profile: name, endpoint, username: who.username },
        `Logged in to ${endpoint} as ${plainText(who.username)} (profile ${name})`,
      );
    }));
}

/** Unlike elsewhere, --profile may name a profile that does not exist yet, beside an endpoint of the environment. */
async function loginEndpoint(io: Io): Promise<string> {
  const { endpoint, profile } = io.flags;
  const env_endpoint = io.world.env.OPSCTL_ENDPOINT;
  if (endpoint === undefined && profile !== undefined && env_endpoint) {
    const saved = (await readProfiles(io.world)).endpoints.get(profile);
    return saved ?? parseEndpoint(env_endpoint, "OPSCTL_ENDPOINT");
  }
  return await resolveEndpoint(io.world, io.flags);
}

async function readKey(io: Io, from_stdin: boolean): Promise<string> {
  if (!from_stdin && io.flags.apiKey !== undefined) return checkToken(io.flags.apiKey, "--api-key");
  const keyboard = await io.world.keyboard();
  if (from_stdin) return checkToken(await keyboard.readAll(), "standard input");
  if (!keyboard.isTTY) throw usageFailure("no terminal to ask for the API key on; pass --api-key-stdin");
  return checkToken(await keyboard.readSecret("API key: "), "the answer");
}

/** Nothing is saved before the server has accepted the key. */
async function verify(io: Io, endpoint: string, apiKey: string): Promise<Whoami> {
  const trial = openIo(io.world, { endpoint, apiKey }, "opsctl");
  return await trial.get<Whoami>("/v1/auth/whoami");
}

async function save(io: Io, name: string, credential: { endpoint: string; api_key: string }): Promise<void> {
  const profiles = await readProfiles(io.world);
  const credentials = await readCredentials(io.world);
  await writeCredentials(io.world, credentials.set(name, credential));
  const default_profile = profiles.default_profile ?? name;
  await writeProfiles(io.world, { default_profile, endpoints: profiles.endpoints.set(name, credential.endpoint) });
}
