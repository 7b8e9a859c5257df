// Reads the claims of a token without verification: only a server can verify them.
import { Buffer } from "node:buffer";

export type Claims = Readonly<Record<string, unknown>>;

/** Returns the claims of a token, or null if it is not a JWT. */
export function claimsOf(token: string): Claims | null {
  const parts = token.split(".");
  if (parts.length !== 3) return null;
  try {
    const claims: unknown = JSON.parse(Buffer.from(parts[1]!, "base64url").toString("utf8"));
    return typeof claims === "object" && claims !== null ? claims as Claims : null;
  } catch {
    return null;
  }
}
