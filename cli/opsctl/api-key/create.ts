import type { ApiKeyBody, ApiKeyCreated } from "../../../src/contract/api-key.ts";
import { KEY_SCOPES, TENANT_KEY_SCOPES } from "../../../src/contract/enums.ts";
import { type AnyCommand, command, oneOf } from "../../framework.ts";
import { usageFailure } from "../../internal/failure.ts";
import { plainText } from "../../internal/plain-text.ts";
import { EXPIRES_AT_OPTION } from "../../internal/time-text.ts";
import { withIo } from "../../internal/run.ts";
import { keysPath } from "./keys.ts";

export function create(): AnyCommand {
  return command("create", "Create an API key and print its secret, once", '--description "backup script"')
    .requiredOption("--description <text>", "purpose of the key")
    .option("--tenant <tenant>", "limit the key to this tenant: name, SILO/NAME or UUID")
    .addOption(
      oneOf(
        "--scope <scope>",
        "permissions of the key; by default full; with --tenant only full or read_only",
        KEY_SCOPES,
      ),
    )
    .option(...EXPIRES_AT_OPTION)
    .action(withIo(async (io, { description, tenant, scope, expiresAt }) => {
      if (tenant !== undefined && scope !== undefined && !TENANT_KEY_SCOPES.some((each) => each === scope)) {
        throw usageFailure(`a tenant's key takes --scope ${TENANT_KEY_SCOPES.join(" or ")}, not ${scope}`);
      }
      io.needSecretShown();
      const body: ApiKeyBody = { description, scope, expires_at: expiresAt };
      const key = await io.post<ApiKeyCreated>(await keysPath(io, tenant), body);
      io.print(key, plainText(key.secret));
      io.note(`Created API key ${key.id} (scope ${key.scope}). Save the secret: it is not shown again.`);
    }));
}
