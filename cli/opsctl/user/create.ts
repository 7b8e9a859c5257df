import type { User, UserBody } from "../../../src/contract/identity.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { readNewPassword } from "../../internal/password.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { resolveTenant } from "../tenant/tenant.ts";
import { CAPABILITY_OPTION } from "./capability.ts";
import { PASSWORD_STDIN_OPTION, USERS_PATH, userTitle } from "./user.ts";

export function create(): AnyCommand {
  return command("create", "Create a user who logs in with a password", "alice --tenant web")
    .argument("<username>", "1 to 63 letters, digits, dots, hyphens, underscores or @")
    .option("--tenant <tenant>", "tenant of the user: name, SILO/NAME or UUID; by default none")
    .option(...CAPABILITY_OPTION)
    .option(...PASSWORD_STDIN_OPTION)
    .action(withIo(async (io, username, { tenant, capability, passwordStdin }) => {
      // Looks up the tenant before it asks for the password, so that an unknown tenant fails at once.
      const tenant_id = tenant === undefined ? undefined : await resolveTenant(io, tenant);
      const source = { prompt: `Password of ${plainText(username)}: `, from_stdin: passwordStdin === true };
      const password = await readNewPassword(io, source);
      const body: UserBody = { username, password, tenant_id, capabilities: capability };
      const user = await io.post<User>(USERS_PATH, body);
      io.print(user, `Created user ${userTitle(user)}`);
    }));
}
