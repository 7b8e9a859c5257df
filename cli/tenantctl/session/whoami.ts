// Document 3: the claims of the token, as it carries them. They are read, not verified: only a server can do that. An API
// key carries none.
import { Buffer } from "node:buffer";
import { type AnyCommand, command } from "../../framework.ts";
import { blockText } from "../../kit/table.ts";
import { withIo } from "../open-io.ts";

/** Document 4, 2.10. */
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

/** Null for a token that is not a JWT. */
function claimsOf(token: string): Readonly<Record<string, unknown>> | null {
  const parts = token.split(".");
  if (parts.length !== 3) return null;
  try {
    const claims: unknown = JSON.parse(Buffer.from(parts[1]!, "base64url").toString("utf8"));
    return typeof claims === "object" && claims !== null ? claims as Record<string, unknown> : null;
  } catch {
    return null;
  }
}
