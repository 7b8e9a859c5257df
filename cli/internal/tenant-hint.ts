// Explains a 404 to tenants. The server answers 404 to a tenant's request about the fleet, so that the tenant does not
// learn what exists.
import type { Whoami } from "../../src/contract/api-key.ts";
import { Failure, reworded } from "./failure.ts";
import type { Io } from "./io.ts";

/** The server's message for a route or a record that the caller may not see. */
const HIDDEN = "Not Found";

/** Returns the failure. If the credential belongs to a tenant, the message of a 404 names this tenant. */
export async function withTenantHint(io: Io, error: unknown): Promise<unknown> {
  if (!(error instanceof Failure) || error.message !== HIDDEN) return error;
  const who = await io.get<Partial<Whoami> | null>("/v1/auth/whoami").catch(() => null);
  if (typeof who?.tenant_id !== "string") return error;
  const { tenant_id, tenant_name, key_id } = who;
  const credential = typeof key_id === "string" ? "key" : "session";
  return reworded(
    error,
    `${HIDDEN}; this ${credential} belongs to tenant ${tenant_name ?? tenant_id}, ` +
      "and commands for the fleet need an operator's key",
  );
}
