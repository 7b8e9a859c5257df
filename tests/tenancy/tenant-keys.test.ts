// Tests keys that are bound to a tenant (docs/tenancy.md, "Credentials").
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openTestControlPlane, ROOT_KEY, type TestControlPlane } from "../support/control-plane.ts";
import { dumpTables, tablesWith } from "../support/dump.ts";
import { openTenant, type TestTenant } from "./tenant.ts";

let t: TestControlPlane;
let acme: TestTenant;
let other: TestTenant;
beforeAll(async () => {
  t = await openTestControlPlane();
  acme = await openTenant(t, "acme");
  other = await openTenant(t, "other");
});
afterAll(() => t.close());

const OWN = "/v1/auth/api-keys";
const keysOf = (tenant: TestTenant) => `/v1/tenants/${tenant.tenant_id}/api-keys`;
const idsOf = (body: readonly { id: string }[]) => body.map(({ id }) => id);
const make = (tenant: TestTenant, body: unknown, key = tenant.key) => t.call("POST", keysOf(tenant), { key, body });
const whoami = (key: string) => t.call("GET", "/v1/auth/whoami", { key });

test("a key of a tenant shows its secret once, acts in the tenant, and is not a root key", async () => {
  const { status, body } = await make(acme, { description: "d" });
  expect(status).toBe(201);
  const { secret, ...view } = body;
  expect(view).toEqual({
    id: expect.any(String),
    user_id: expect.any(String),
    description: "d",
    scope: "full",
    bound_to_cn: null,
    tenant_id: acme.tenant_id,
    created_at: expect.any(String),
    expires_at: null,
    last_used_at: null,
  });
  expect((await whoami(secret)).body).toMatchObject({
    is_root: false,
    capabilities: [],
    tenant_id: acme.tenant_id,
    silo_id: null,
    key_id: view.id,
    scope: "full",
  });
  const list = await acme.call("GET", keysOf(acme));
  expect(idsOf(list.body)).toContain(view.id);
  expect(list.text).not.toContain(secret.slice(-32));
  expect(tablesWith(await dumpTables(t.db), secret.slice(-32))).toEqual([]);
});

test("a tenant's key that the root operator owns does not have root's rights", async () => {
  const asked = [
    ["GET", "/v1/silos", 403],
    ["POST", "/v1/silos", 403],
    ["GET", "/v1/config", 403],
    ["GET", "/v1/audit/events", 403],
    ["GET", "/v1/system/cns", 404],
    ["GET", "/v1/system/users", 404],
    ["GET", `/v1/silos/${acme.silo_id}/tenants`, 404],
    ["DELETE", `/v1/silos/${acme.silo_id}/tenants/${acme.tenant_id}`, 404],
    ["GET", `/v1/tenants/${other.tenant_id}/projects`, 404],
    ["GET", `/v1/tenants/${acme.tenant_id}/projects`, 200],
  ] as const;
  for (const [method, path, status] of asked) {
    const body = method === "POST" ? { name: "x" } : undefined;
    expect([method, path, (await acme.call(method, path, { body })).status]).toEqual([method, path, status]);
  }
});

describe("in requests about its owner's keys, the key of a tenant", () => {
  test("sees only keys that are bound to the tenant, not the owner's other keys", async () => {
    const root = await t.mintKey("full");
    const seen = await acme.call("GET", OWN);
    expect(seen.status).toBe(200);
    expect(idsOf(seen.body)).toContain(acme.key_id);
    expect(new Set(seen.body.map((key: { tenant_id: string }) => key.tenant_id))).toEqual(new Set([acme.tenant_id]));
    expect(idsOf((await t.call("GET", OWN)).body)).toEqual(expect.arrayContaining([root.id, acme.key_id]));
  });

  test("creates only keys that are bound to the tenant", async () => {
    const made = await acme.call("POST", OWN, { body: { description: "mine" } });
    expect(made).toMatchObject({ status: 201, body: { tenant_id: acme.tenant_id, scope: "full" } });
    expect((await whoami(made.body.secret)).body).toMatchObject({ is_root: false, tenant_id: acme.tenant_id });
  });

  test.each(["agent", "booter", "ur_enroll", "audit_only"])("creates no key of scope %s", async (scope) => {
    const answer = await acme.call("POST", OWN, { body: { description: "d", scope } });
    expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining("scope") } });
    expect((await make(acme, { description: "d", scope })).status).toBe(400);
  });

  test("deletes neither the owner's other keys nor another tenant's keys: both get 404", async () => {
    const root = await t.mintKey("full");
    const headers = { "x-request-id": randomUUID() };
    const absent = await acme.call("DELETE", `${OWN}/${randomUUID()}`, { headers });
    expect(absent.status).toBe(404);
    for (const id of [root.id, other.key_id]) {
      expect((await acme.call("DELETE", `${OWN}/${id}`, { headers })).text).toBe(absent.text);
    }
    expect([(await whoami(root.secret)).status, (await whoami(other.key)).status]).toEqual([200, 200]);
    const own = await acme.call("POST", OWN, { body: { description: "to go" } });
    expect((await acme.call("DELETE", `${OWN}/${own.body.id}`)).status).toBe(204);
    expect((await whoami(own.body.secret)).status).toBe(401);
  });
});

test("a read_only key of a tenant can list keys, but can neither create nor delete keys", async () => {
  const { body } = await make(acme, { description: "r", scope: "read_only" });
  const key = body.secret;
  expect((await t.call("GET", keysOf(acme), { key })).status).toBe(200);
  expect((await t.call("POST", OWN, { key, body: { description: "d", scope: "read_only" } })).status).toBe(403);
  expect((await make(acme, { description: "d", scope: "read_only" }, key)).status).toBe(404);
  expect((await t.call("DELETE", `${keysOf(acme)}/${acme.key_id}`, { key })).status).toBe(404);
});

test("a key that expires creates no key that outlives it", async () => {
  const { rows } = await t.db.query<{ now: Date }>("select berth_now() as now");
  const after_s = (seconds: number) => new Date((rows[0]?.now.getTime() ?? 0) + seconds * 1_000).toISOString();
  const { body: parent } = await make(acme, { description: "p", expires_at: after_s(3_600) });
  for (const path of [OWN, keysOf(acme)]) {
    const child = (expires_at?: string) =>
      t.call("POST", path, { key: parent.secret, body: { description: "c", expires_at } });
    expect((await child(after_s(3_601))).status).toBe(400);
    expect((await child(after_s(3_600))).body.expires_at).toBe(after_s(3_600));
    expect((await child()).body.expires_at).toBe(after_s(3_600));
  }
});

test("a tenant's keys are listed and deleted by its members, and other callers get 404", async () => {
  const { body: made } = await make(acme, { description: "d" }, ROOT_KEY);
  const headers = { "x-request-id": randomUUID() };
  const absent = await other.call("GET", `/v1/tenants/${randomUUID()}/api-keys`, { headers });
  expect(absent.status).toBe(404);
  expect((await other.call("GET", keysOf(acme), { headers })).text).toBe(absent.text);
  expect((await make(acme, { description: "d" }, other.key)).status).toBe(404);
  expect((await other.call("DELETE", `${keysOf(acme)}/${made.id}`)).status).toBe(404);
  // With the caller's own tenant in the path the key is not found, either.
  expect((await other.call("DELETE", `${keysOf(other)}/${made.id}`)).status).toBe(404);
  expect((await whoami(made.secret)).status).toBe(200);
  expect((await acme.call("DELETE", `${keysOf(acme)}/${acme.key_id}`)).status).toBe(409);
  expect((await acme.call("DELETE", `${keysOf(acme)}/${made.id}`)).status).toBe(204);
  expect((await whoami(made.secret)).status).toBe(401);
});

test("a deleted key of a tenant is rejected from the next request on, even by other processes", async () => {
  const second = await openTestControlPlane({ databaseUrl: t.databaseUrl });
  const { body: made } = await make(acme, { description: "d" });
  const path = `/v1/tenants/${acme.tenant_id}/projects`;
  expect((await second.call("GET", path, { key: made.secret })).status).toBe(200);
  expect((await t.call("DELETE", `${keysOf(acme)}/${made.id}`)).status).toBe(204);
  expect((await second.call("GET", path, { key: made.secret })).status).toBe(401);
  await second.close();
});

test("a repeat with the same Idempotency-Key returns the same secret, but not to another tenant", async () => {
  const headers = { "idempotency-key": "tenant-key-1" };
  const body = { description: "once" };
  const first = await acme.call("POST", OWN, { body, headers });
  expect((await acme.call("POST", OWN, { body, headers })).body).toEqual(first.body);
  const foreign = await other.call("POST", OWN, { body, headers });
  expect(foreign.body.id).not.toBe(first.body.id);
  expect(foreign.body.tenant_id).toBe(other.tenant_id);
});

test("a tenant is not deleted while a key is bound to it, and the 409 names the key", async () => {
  const tenant = await openTenant(t, "leaving");
  await t.call("DELETE", `/v1/tenants/${tenant.tenant_id}/projects/${tenant.project_id}`);
  const path = `/v1/silos/${tenant.silo_id}/tenants/${tenant.tenant_id}`;
  const refused = await t.call("DELETE", path);
  expect(refused).toMatchObject({ status: 409, body: { message: expect.stringContaining(tenant.key_id) } });
  expect((await t.call("DELETE", `${keysOf(tenant)}/${tenant.key_id}`)).status).toBe(204);
  expect((await t.call("DELETE", path)).status).toBe(204);
});
