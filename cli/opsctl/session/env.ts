import { type AnyCommand, command } from "../../framework.ts";
import { printExports } from "../../internal/env-exports.ts";
import { withIo } from "../../internal/run.ts";

export function env(summary: string): AnyCommand {
  return command("env", summary)
    .action(withIo(async (io) => {
      const { endpoint, token, session } = await io.connection();
      const exports = { OPSCTL_ENDPOINT: endpoint, OPSCTL_ACCESS_TOKEN: token };
      // The printed commands unset these variables, because a profile together with an endpoint is an error, and a key
      // would override the token.
      printExports(io, exports, ["OPSCTL_PROFILE", "OPSCTL_API_KEY"]);
      if (session !== undefined) io.note(`note: this access token expires at ${session.saved.access_expires_at}`);
    }));
}
