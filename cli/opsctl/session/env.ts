import { shellQuote } from "../../internal/shell-quote.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";

export function env(summary: string): AnyCommand {
  return command("env", summary)
    .action(withIo(async (io) => {
      const { endpoint, token, session } = await io.connection();
      const exports = { OPSCTL_ENDPOINT: endpoint, OPSCTL_ACCESS_TOKEN: token };
      const lines = Object.entries(exports).map(([name, value]) => `export ${name}=${shellQuote(value)}`);
      // The exports replace the profile. A profile together with a token is an error, so the profile is unset.
      const unset = io.environment.env.OPSCTL_PROFILE ? ["unset OPSCTL_PROFILE"] : [];
      io.print(exports, [...unset, ...lines].join("\n"));
      if (session !== undefined) io.note(`note: this access token expires at ${session.saved.access_expires_at}`);
    }));
}
