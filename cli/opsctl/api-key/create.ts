import type { ApiKeyBody, ApiKeyCreated } from "../../../src/contract/api-key.ts";
import { KEY_SCOPES } from "../../../src/contract/enums.ts";
import { type AnyCommand, command, oneOf } from "../../framework.ts";
import { plainText } from "../../kit/plain-text.ts";
import { withIo } from "../../kit/run.ts";
import { API_KEYS_PATH } from "./list.ts";

export function create(): AnyCommand {
  return command("create", "Make an API key and print its secret, once")
    .requiredOption("--description <text>", "what the key is for")
    .addOption(oneOf("--scope <scope>", "what the key may do; full when left out", KEY_SCOPES))
    .option("--expires-at <timestamp>", "RFC 3339 timestamp; left out, it does not expire")
    .action(withIo(async (io, { description, scope, expiresAt }) => {
      const body: ApiKeyBody = { description, scope, expires_at: expiresAt };
      const key = await io.post<ApiKeyCreated>(API_KEYS_PATH, body);
      io.print(key, plainText(key.secret));
      io.note(`Created API key ${key.id} (scope ${key.scope}). The secret is not shown again.`);
    }));
}
