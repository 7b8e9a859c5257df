// Creates callers for tests of resource scopes. Two tenants are in the same silo, and a third tenant is in another
// silo. Each tenant has an API key that is bound to the tenant. Users in and outside these tenants have full API keys.
import { randomUUID } from "node:crypto";
import { okOf, type TestControlPlane } from "../support/control-plane.ts";

export type Callers = Awaited<ReturnType<typeof makeCallers>>;

/** Creates a tenant in the silo, with a project and an API key that is bound to the tenant. */
async function tenantOf(t: TestControlPlane, silo_id: string) {
  const body = { name: randomUUID() };
  const tenant_id: string = okOf(await t.call("POST", `/v1/silos/${silo_id}/tenants`, { body })).id;
  const project_id: string = okOf(await t.call("POST", `/v1/tenants/${tenant_id}/projects`, { body })).id;
  const bound = okOf(await t.call("POST", `/v1/tenants/${tenant_id}/api-keys`, { body: { description: "bound" } }));
  return { silo_id, tenant_id, project_id, key: bound.secret as string };
}

/** Creates a user with a full API key, in the tenant or without a tenant. */
async function memberOf(t: TestControlPlane, tenant_id: string | null, capabilities: readonly string[] = []) {
  const user_id = randomUUID();
  await t.db.query(
    "insert into user_account (id, username, is_root, tenant_id, capabilities) values ($1, $2, false, $3, $4)",
    [user_id, `member ${user_id}`, tenant_id, capabilities],
  );
  const made = okOf(await t.call("POST", "/v1/auth/api-keys", { body: { description: "of a member" } }));
  await t.db.query("update api_key set user_id = $1 where id = $2", [user_id, made.id]);
  return { user_id, key: made.secret as string };
}

export async function makeCallers(t: TestControlPlane) {
  const silo = async () => okOf(await t.call("POST", "/v1/silos", { body: { name: randomUUID() } })).id as string;
  const here = await silo();
  const acme = await tenantOf(t, here);
  const sibling = await tenantOf(t, here);
  const foreign = await tenantOf(t, await silo());
  return {
    acme,
    sibling,
    foreign,
    member: await memberOf(t, acme.tenant_id),
    administrator: await memberOf(t, acme.tenant_id, ["silo-admin"]),
    /** A user of the tenant `foreign` with silo-admin in the tenant's silo. */
    stranger: await memberOf(t, foreign.tenant_id, ["silo-admin"]),
    colleague: await memberOf(t, acme.tenant_id),
    neighbour: await memberOf(t, sibling.tenant_id),
    tenantless: await memberOf(t, null),
  };
}

/**
 * Returns the paths of the tenant's silo, of the tenant and of its project. The path of a list begins with one of these
 * paths, as in PATH/images.
 */
export function levelsOf({ silo_id, tenant_id, project_id }: Callers["acme"]) {
  return {
    silo: `/v1/silos/${silo_id}`,
    tenant: `/v1/tenants/${tenant_id}`,
    project: `/v1/tenants/${tenant_id}/projects/${project_id}`,
  } as const;
}
