import { type AnyCommand, command } from "../../framework.ts";
import { printExports } from "../../internal/env-exports.ts";
import { withText } from "../open-io.ts";

export function env(summary: string): AnyCommand {
  return command("env", summary)
    .action(withText(async (io) => {
      const { endpoint, token } = await io.connection();
      const exports = { TENANTCTL_ENDPOINT: endpoint, TENANTCTL_ACCESS_TOKEN: token };
      // The printed commands unset these variables, because a profile together with an endpoint is an error, and a key
      // would override the token.
      printExports(io, exports, ["TENANTCTL_PROFILE", "TENANTCTL_API_KEY"]);
    }));
}
