import type { Whoami } from "../../../src/contract/api-key.ts";
import { type AnyCommand, command, option } from "../../framework.ts";
import { checkToken, profileName, resolveEndpoint } from "../../internal/connection.ts";
import { isExposed, parseEndpoint } from "../../internal/endpoint.ts";
import { usageFailure } from "../../internal/failure.ts";
import { type Io, openIo } from "../../internal/io.ts";
import { readPassword } from "../../internal/password.ts";
import { plainText } from "../../internal/plain-text.ts";
import {
  readCredentials,
  readProfiles,
  type SavedCredential,
  writeCredentials,
  writeProfiles,
} from "../../internal/profile.ts";
import { withIo } from "../../internal/run.ts";
import { startSession } from "../../internal/session.ts";

export function login(summary: string): AnyCommand {
  return command("login", summary, "--username alice")
    .option("--username <name>", "log in as this user with a password, not with an API key")
    .addOption(
      option("--password-stdin", "read the password from standard input")
        .conflicts("apiKeyStdin"),
    )
    .addOption(
      option("--api-key-stdin", "read the API key from standard input").conflicts("username"),
    )
    .action(withIo(async (io, { username, passwordStdin, apiKeyStdin }) => {
      if (username === undefined && passwordStdin === true) throw usageFailure("--password-stdin needs --username");
      if (username !== undefined && io.flags.apiKey !== undefined) {
        throw usageFailure("--username and --api-key exclude each other; pass one of them");
      }
      const name = await profileName(io.environment, io.flags);
      const endpoint = await loginEndpoint(io);
      const secret = username === undefined ? "key" : "password";
      if (isExposed(endpoint)) {
        io.note(`warning: ${endpoint} is not encrypted; others on the network can read the ${secret}`);
      }
      const credential = username === undefined
        ? { endpoint, api_key: await readKey(io, apiKeyStdin === true) }
        : await sessionOf(io, { endpoint, username, from_stdin: passwordStdin === true });
      const who = await verify(io, credential);
      await save(io, name, credential);
      io.print(
        { profile: name, endpoint, username: who.username },
        `Logged in to ${endpoint} as ${plainText(who.username)} (profile ${name})`,
      );
    }));
}

/**
 * Returns the endpoint. If --profile names a profile that does not exist yet, login uses the endpoint in
 * OPSCTL_ENDPOINT. Other commands ignore OPSCTL_ENDPOINT if --profile is given.
 */
async function loginEndpoint(io: Io): Promise<string> {
  const { endpoint, profile } = io.flags;
  const env_endpoint = io.environment.env.OPSCTL_ENDPOINT;
  if (endpoint === undefined && profile !== undefined && env_endpoint) {
    const saved = (await readProfiles(io.environment)).endpoints.get(profile);
    return saved ?? parseEndpoint(env_endpoint, "OPSCTL_ENDPOINT");
  }
  return await resolveEndpoint(io.environment, io.flags);
}

async function readKey(io: Io, from_stdin: boolean): Promise<string> {
  if (!from_stdin && io.flags.apiKey !== undefined) return checkToken(io.flags.apiKey, "--api-key");
  const keyboard = await io.environment.keyboard();
  if (from_stdin) return checkToken(await keyboard.readAll(), "standard input");
  if (!keyboard.isTTY) {
    throw usageFailure("standard input is not a terminal, so there is no prompt for the API key; pass --api-key-stdin");
  }
  return checkToken(await keyboard.readSecret("API key: "), "the answer");
}

type Login = { readonly endpoint: string; readonly username: string; readonly from_stdin: boolean };

async function sessionOf(io: Io, { endpoint, username, from_stdin }: Login): Promise<SavedCredential> {
  const password = await readPassword(io, { prompt: `Password of ${plainText(username)}: `, from_stdin });
  const tokens = await startSession(io.environment, { endpoint, user_agent: "opsctl" }, { username, password });
  return { endpoint, username, ...tokens };
}

/** Checks the credential at the server before it is saved. */
async function verify(io: Io, credential: SavedCredential): Promise<Whoami> {
  const apiKey = "api_key" in credential ? credential.api_key : credential.access_token;
  const probe = openIo(io.environment, { endpoint: credential.endpoint, apiKey }, "opsctl");
  return await probe.get<Whoami>("/v1/auth/whoami");
}

async function save(io: Io, name: string, credential: SavedCredential): Promise<void> {
  const profiles = await readProfiles(io.environment);
  const credentials = await readCredentials(io.environment);
  await writeCredentials(io.environment, credentials.set(name, credential));
  const default_profile = profiles.default_profile ?? name;
  const endpoints = profiles.endpoints.set(name, credential.endpoint);
  await writeProfiles(io.environment, { ...profiles, default_profile, endpoints });
}
