// Prints the claims of an access token, or the owner of an API key, which has no claims.
import { type AnyCommand, command } from "../../framework.ts";
import { blockText } from "../../internal/table.ts";
import { printOwner } from "../../internal/whoami.ts";
import { withIo } from "../open-io.ts";
import { claimsOf } from "./claims.ts";

const SHOWN = ["sub", "tenant_id", "realm_scope", "scope", "exp"] as const;

export function whoami(summary: string): AnyCommand {
  return command("whoami", summary)
    .action(withIo(async (io) => {
      const claims = claimsOf((await io.connection()).token);
      if (claims === null) return await printOwner(io);
      const shown = SHOWN.filter((name) => claims[name] !== undefined);
      io.print(
        Object.fromEntries(shown.map((name) => [name, claims[name]])),
        shown.length === 0 ? "(the token carries no claims)" : blockText(shown.map((name) => [name, claims[name]])),
      );
    }));
}
