import type { Whoami } from "../../../src/contract/api-key.ts";
import { type AnyCommand, command, option } from "../../framework.ts";
import { checkToken } from "../../internal/connection.ts";
import { isExposed } from "../../internal/endpoint.ts";
import { usageFailure } from "../../internal/failure.ts";
import type { Io } from "../../internal/io.ts";
import { readPassword } from "../../internal/password.ts";
import { DEFAULT_PROFILE } from "../../internal/profile.ts";
import { plainText } from "../../internal/plain-text.ts";
import { startSession } from "../../internal/session.ts";
import { resolveEndpoint } from "../connection.ts";
import { openIo, withIo } from "../open-io.ts";
import { USER_AGENT } from "../user-agent.ts";
import { profileOf, type SavedLogin, writeLogin } from "./saved-login.ts";

export function login(summary: string): AnyCommand {
  return command("login", summary, "--username alice")
    .option("--username <name>", "log in as this user; prompts for the password")
    .option("--password-stdin", "read the password from standard input")
    .addOption(
      option("--api-key-stdin", "read the API key from standard input")
        .conflicts(["username", "passwordStdin"]),
    )
    .action(withIo(async (io, { username, passwordStdin, apiKeyStdin }) => {
      if (passwordStdin === true && username === undefined) throw usageFailure("--password-stdin needs --username");
      if (username !== undefined && io.flags.apiKey !== undefined) {
        throw usageFailure("--username and --api-key exclude each other; pass one of them");
      }
      const profile = await profileOf(io.environment, io.flags);
      const endpoint = await resolveEndpoint(io.environment, io.flags);
      if (isExposed(endpoint)) {
        const secret = username === undefined ? "key" : "password";
        io.note(`warning: ${endpoint} is not encrypted; others on the network can read the ${secret}`);
      }
      const login = username === undefined
        ? await withKey(io, endpoint, apiKeyStdin === true)
        : await withPassword(io, endpoint, { username, from_stdin: passwordStdin === true });
      await writeLogin(io.environment, profile, login.saved);
      const where = profile === DEFAULT_PROFILE ? "" : ` (profile ${profile})`;
      const inTenant = login.tenant === null ? "" : `, in tenant ${plainText(login.tenant)}`;
      const said = `Logged in to ${endpoint} as ${plainText(login.username)}${inTenant}${where}`;
      io.print({ endpoint, username: login.username, profile }, said);
    }));
}

type Login = {
  readonly username: string;
  /**
   * The tenant of a key as SILO/TENANT. The login message names the tenant, because the user name of a tenant's key may
   * be the name of the operator who created the key.
   */
  readonly tenant: string | null;
  readonly saved: SavedLogin;
};

async function withKey(io: Io, endpoint: string, from_stdin: boolean): Promise<Login> {
  const api_key = await readKey(io, from_stdin);
  // Checks the key at the server before it is saved.
  const probe = openIo(io.environment, { flags: { endpoint, apiKey: api_key }, fallback: "json" });
  const { username, tenant_id, tenant_name, silo_name } = await probe.get<Whoami>("/v1/auth/whoami");
  // A server of the previous release does not send the names.
  const tenant = tenant_name ? [silo_name, tenant_name].filter(Boolean).join("/") : null;
  return { username, tenant, saved: { endpoint, api_key, tenant_id } };
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

type PasswordLogin = { readonly username: string; readonly from_stdin: boolean };

async function withPassword(io: Io, endpoint: string, { username, from_stdin }: PasswordLogin): Promise<Login> {
  const password = await readPassword(io, { prompt: "Password: ", from_stdin });
  const tokens = await startSession(io.environment, { endpoint, user_agent: USER_AGENT }, { username, password });
  return { username, tenant: null, saved: { endpoint, username, ...tokens } };
}
