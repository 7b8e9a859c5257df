import type { ApiKeyCreated } from "../../../src/contract/api-key.ts";
import { TENANT_KEY_SCOPES } from "../../../src/contract/enums.ts";
import type { TenantKeyBody } from "../../../src/contract/identity.ts";
import { type AnyCommand, command, oneOf } from "../../framework.ts";
import { plainText } from "../../internal/plain-text.ts";
import { EXPIRES_AT_OPTION } from "../../internal/time-text.ts";
import { withText } from "../open-io.ts";
import { keysPath } from "./api-key.ts";

export function create(): AnyCommand {
  return command(
    "create",
    "Create an API key of the tenant and print its secret, once",
    '--description "deploy script"',
  )
    .requiredOption("--description <text>", "purpose of the key")
    .addOption(oneOf("--scope <scope>", "permissions of the key; by default full", TENANT_KEY_SCOPES))
    .option(...EXPIRES_AT_OPTION)
    .action(withText(async (io, { description, scope, expiresAt }) => {
      io.needSecretShown();
      const body: TenantKeyBody = { description, scope, expires_at: expiresAt };
      const key = await io.post<ApiKeyCreated>(await keysPath(io), body);
      io.print(key, plainText(key.secret));
      io.note(`Created API key ${key.id} (scope ${key.scope}). Save the secret: it is not shown again.`);
    }));
}
