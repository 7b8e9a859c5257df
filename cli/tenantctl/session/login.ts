import type { Whoami } from "../../../src/contract/api-key.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { checkToken } from "../../kit/connection.ts";
import { isExposed } from "../../kit/endpoint.ts";
import { usageFailure } from "../../kit/failure.ts";
import type { Io } from "../../kit/io.ts";
import { plainText } from "../../kit/plain-text.ts";
import { resolveEndpoint } from "../connection.ts";
import { openIo, withIo } from "../open-io.ts";
import { writeLogin } from "./saved-login.ts";

export function login(summary: string): AnyCommand {
  return command("login", summary)
    .option("--api-key-stdin", "read the API key from standard input instead of asking for it")
    .action(withIo(async (io, { apiKeyStdin }) => {
      const endpoint = await resolveEndpoint(io.world, io.flags);
      if (isExposed(endpoint)) io.note(`warning: ${endpoint} is not encrypted; the key can be read on the way`);
      const api_key = await readKey(io, apiKeyStdin === true);
      const { username } = await verify(io, endpoint, api_key);
      await writeLogin(io.world, { endpoint, api_key });
      io.print({ endpoint, username }, `Logged in to ${endpoint} as ${plainText(username)}`);
    }));
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
  const trial = await openIo(io.world, { flags: { endpoint, apiKey }, format: "json", user_agent: "tenantctl" });
  return await trial.get<Whoami>("/v1/auth/whoami");
}
