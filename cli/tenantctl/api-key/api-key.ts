// Contains the parts that the verbs of the tenant's API keys share. A key has no name, so the verbs take its id.
import type { TenantIo } from "../open-io.ts";
import { needTenant } from "../scope.ts";

export async function keysPath(io: TenantIo): Promise<string> {
  return `/v1/tenants/${await needTenant(io)}/api-keys`;
}
