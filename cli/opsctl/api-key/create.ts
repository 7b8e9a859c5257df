import type { ApiKeyBody, ApiKeyCreated } from "../../../src/contract/api-key.ts";
import { KEY_SCOPES, TENANT_KEY_SCOPES } from "../../../src/contract/enums.ts";
import { type AnyCommand, command, oneOf } from "../../framework.ts";
import { usageFailure } from "../../internal/failure.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { keysPath } from "./keys.ts";

export function create(): AnyCommand {
  return command("create", "Make an API key and print its secret, once")
    .requiredOption("--description <text>", "what the key is for")
    .option("--tenant <tenant>", "a key that acts inside this tenant only, by name, SILO/NAME or UUID")
    .addOption(
      oneOf("--scope <scope>", "what the key may do; full when left out; full or read_only with --tenant", KEY_SCOPES),
    )
    .option("--expires-at <timestamp>", "RFC 3339 timestamp; left out, it does not expire")
    .action(withIo(async (io, { description, tenant, scope, expiresAt }) => {
      if (tenant !== undefined && scope !== undefined && !TENANT_KEY_SCOPES.some((each) => each === scope)) {
        throw usageFailure(`a key of a tenant has the scope ${TENANT_KEY_SCOPES.join(" or ")}, not ${scope}`);
      }
      const body: ApiKeyBody = { description, scope, expires_at: expiresAt };
      const key = await io.post<ApiKeyCreated>(await keysPath(io, tenant), body);
      io.print(key, plainText(key.secret));
      io.note(`Created API key ${key.id} (scope ${key.scope}). The secret is not shown again.`);
    }));
}
