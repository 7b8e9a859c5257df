// Prints the claims of an access token. An API key has no claims.
import { type AnyCommand, command } from "../../framework.ts";
import { blockText } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { claimsOf } from "./claims.ts";

const SHOWN = ["sub", "tenant_id", "realm_scope", "scope", "exp"] as const;

export function whoami(summary: string): AnyCommand {
  return command("whoami", summary)
    .action(withIo(async (io) => {
      const claims = claimsOf((await io.connection()).token);
      if (claims === null) return io.print({}, "(an API key carries no claims)");
      const shown = SHOWN.filter((name) => claims[name] !== undefined);
      io.print(
        Object.fromEntries(shown.map((name) => [name, claims[name]])),
        shown.length === 0 ? "(the token carries no claims)" : blockText(shown.map((name) => [name, claims[name]])),
      );
    }));
}
