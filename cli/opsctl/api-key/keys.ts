// Paths of API keys: the caller's own, or the keys of one tenant.
import type { Io } from "../../internal/io.ts";
import { resolveTenant } from "../tenant/tenant.ts";

export const API_KEYS_PATH = "/v1/auth/api-keys";
export const OF_TENANT_OPTION = [
  "--tenant <tenant>",
  "use this tenant's keys instead of your own: name, SILO/NAME or UUID",
] as const;

export async function keysPath(io: Io, tenant: string | undefined): Promise<string> {
  return tenant === undefined ? API_KEYS_PATH : `/v1/tenants/${await resolveTenant(io, tenant)}/api-keys`;
}
