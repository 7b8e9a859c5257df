import { type AnyCommand, command } from "../../framework.ts";
import { shellQuote } from "../../internal/shell-quote.ts";
import { withText } from "../open-io.ts";

export function env(summary: string): AnyCommand {
  return command("env", summary)
    .action(withText(async (io) => {
      const { endpoint, token } = await io.connection();
      const exports = { TENANTCTL_ENDPOINT: endpoint, TENANTCTL_ACCESS_TOKEN: token };
      const lines = Object.entries(exports).map(([name, value]) => `export ${name}=${shellQuote(value)}`);
      io.print(exports, lines.join("\n"));
    }));
}
