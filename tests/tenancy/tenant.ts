// Creates a tenant for tests through the API: a silo, a tenant, a project, and a key that acts in the tenant.
import { type Answer, type CallOptions, okOf, type TestControlPlane } from "../support/control-plane.ts";

export type TestTenant = {
  readonly silo_id: string;
  readonly tenant_id: string;
  readonly project_id: string;
  /** A full key that is bound to the tenant, and its id. */
  readonly key: string;
  readonly key_id: string;
  /** `?tenant=<uuid>&project=<uuid>` */
  readonly selectors: string;
  /** Sends a request with the tenant's key, or with the key in `options`. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
};

let made = 0;

/** Creates a tenant with a project and a key. The name of each silo is unique, so each call creates another tenant. */
export async function openTenant(t: Pick<TestControlPlane, "call">, name = "acme"): Promise<TestTenant> {
  made += 1;
  const make = async (path: string, body: unknown) => okOf(await t.call("POST", path, { body }));
  const silo = await make("/v1/silos", { name: `${name}-silo-${made}` });
  const tenant = await make(`/v1/silos/${silo.id}/tenants`, { name });
  const project = await make(`/v1/tenants/${tenant.id}/projects`, { name: `${name}-project` });
  const key = await make(`/v1/tenants/${tenant.id}/api-keys`, { description: `test ${name}` });
  return {
    silo_id: silo.id,
    tenant_id: tenant.id,
    project_id: project.id,
    key: key.secret,
    key_id: key.id,
    selectors: `?tenant=${tenant.id}&project=${project.id}`,
    call: (method, path, options = {}) => t.call(method, path, { key: key.secret, ...options }),
  };
}
