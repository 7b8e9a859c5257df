// Runs tenantctl as a tenant at a test control plane, in the tenant's project.
import { randomUUID } from "node:crypto";
import type { TestControlPlane } from "../../support/control-plane.ts";
import type { TestTenant } from "../../tenancy/tenant.ts";
import { serverOf } from "../at-control-plane.ts";
import { ENDPOINT } from "../fake-environment.ts";
import { type Ran, tenantctl } from "./run.ts";

/** Runs a command line. `typed` is the text on standard input. By default, the standard input is empty. */
export function runAsTenant(
  { t, tenant }: { readonly t: TestControlPlane; readonly tenant: TestTenant },
  line: string,
  typed?: string,
): Promise<Ran> {
  return tenantctl(line.split(" "), {
    env: {
      TENANTCTL_ENDPOINT: ENDPOINT,
      TENANTCTL_API_KEY: tenant.key,
      TENANTCTL_TENANT: tenant.tenant_id,
      TENANTCTL_PROJECT: tenant.project_id,
      NO_COLOR: "1",
    },
    server: serverOf(t),
    newId: randomUUID,
    isTTY: false,
    ...(typed !== undefined && { typed }),
  });
}
