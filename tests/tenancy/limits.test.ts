// S-48: no caller exceeds a quota, a rate or an expiry by creating a project, a key, a user, a tenant or a session.
// For each limit, the tests create every kind of object that the limited caller may create.
// tests/compute/tenant-quota.test.ts tests the quota of a tenant with several projects.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ComputeFixture, GIB, openComputeFixture } from "../compute/compute-fixture.ts";
import { type Answer, okOf, openTestControlPlane, ROOT_KEY, type TestControlPlane } from "../support/control-plane.ts";
import { openTenant, type TestTenant } from "./tenant.ts";

const PASSWORD = "correct horse battery";
const HOUR_MS = 3_600_000;

let t: TestControlPlane;
let fixture: ComputeFixture;
beforeAll(async () => {
  t = await openTestControlPlane();
  fixture = await openComputeFixture({ t });
});
afterAll(() => t.close());

const now = async () => (await t.db.query<{ now: Date }>("select berth_now() as now")).rows[0]!.now.getTime();
const later = async (ms: number) => new Date(await now() + ms).toISOString();
const login = async (username: string, on: Pick<TestControlPlane, "call"> = t) =>
  await on.call("POST", "/v1/auth/login", { key: null, body: { username, password: PASSWORD } });

/** Creates a user and logs it in. `key` is the access token. */
async function signedIn(fields: object) {
  const username = `user-${randomUUID()}`;
  const { id } = okOf(await t.call("POST", "/v1/system/users", { body: { username, password: PASSWORD, ...fields } }));
  return { id, username, key: okOf(await login(username)).access_token as string };
}

/** Creates a tenant with a quota of one instance, and an instance that uses up the quota. */
async function fullTenant(): Promise<{ full: ComputeFixture; tenant: TestTenant }> {
  const tenant = await openTenant(t);
  const full = await openComputeFixture({ t, tenant, node: fixture.node });
  const most = { cpu_limit: 1_000, memory_bytes: 1_000 * GIB, disk_bytes: 1_000 * GIB, instance_limit: 1 };
  okOf(await t.call("PUT", `/v1/tenants/${tenant.tenant_id}/quota`, { body: most }));
  await full.running({ cpu: 1, memory_bytes: GIB });
  return { full, tenant };
}

describe("S-48: the quota of a tenant", () => {
  const REFUSED = [409, "QuotaExceeded"];
  const outcome = ({ status, body }: Answer) => [status, body.error_code];

  test("is not lifted by another key, session or user of the tenant", async () => {
    const { full, tenant } = await fullTenant();
    const of_tenant = { tenant_id: tenant.tenant_id };
    const user = await signedIn(of_tenant);
    const keys = [
      okOf(await tenant.call("POST", `/v1/tenants/${tenant.tenant_id}/api-keys`, { body: { description: "k" } }))
        .secret,
      okOf(await tenant.call("POST", "/v1/auth/api-keys", { body: { description: "k" } })).secret,
      user.key,
      okOf(await t.call("POST", "/v1/auth/api-keys", { key: user.key, body: { description: "k" } })).secret,
      okOf(await login(user.username)).access_token,
      (await signedIn({ ...of_tenant, capabilities: ["silo-admin"] })).key,
    ];
    for (const key of keys) expect(outcome(await full.create({}, { key }))).toEqual(REFUSED);
  });

  test("cannot be raised by the tenant, and holds even if an operator sets a higher quota for a project", async () => {
    const { full, tenant } = await fullTenant();
    const limits = { cpu_limit: 99, memory_bytes: 99 * GIB, disk_bytes: 99 * GIB, instance_limit: 99 };
    const project = `/v1/tenants/${tenant.tenant_id}/projects/${tenant.project_id}/quota`;
    const admin = await signedIn({ tenant_id: tenant.tenant_id, capabilities: ["silo-admin"] });
    for (const path of [project, `/v1/tenants/${tenant.tenant_id}/quota`]) {
      for (const key of [tenant.key, admin.key]) {
        expect((await t.call("PUT", path, { key, body: limits })).status).toBe(404);
        expect((await t.call("DELETE", path, { key })).status).toBe(404);
      }
    }
    okOf(await t.call("PUT", project, { body: limits }));
    expect(outcome(await full.create())).toEqual(REFUSED);
  });

  test("is not lifted by another tenant: a silo administrator can create a tenant, but nothing in it", async () => {
    const { full, tenant } = await fullTenant();
    const { key } = await signedIn({ tenant_id: tenant.tenant_id, capabilities: ["silo-admin"] });
    const body = { name: randomUUID() };
    const { id } = okOf(await t.call("POST", `/v1/silos/${tenant.silo_id}/tenants`, { key, body }));
    const inside = [
      t.call("POST", `/v1/tenants/${id}/projects`, { key, body }),
      t.call("POST", `/v1/tenants/${id}/api-keys`, { key, body: { description: "k" } }),
      t.call("POST", `/v1/instances?tenant=${id}&project=${tenant.project_id}`, { key, body: full.bodyOf() }),
      t.call("POST", "/v1/system/users", { key, body: { username: "x", password: PASSWORD, tenant_id: id } }),
    ];
    expect((await Promise.all(inside)).map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    // Other members of the tenant cannot create tenants.
    expect((await tenant.call("POST", `/v1/silos/${tenant.silo_id}/tenants`, { body })).status).toBe(404);
    expect(outcome(await full.create())).toEqual(REFUSED);
  });

  test("counts over all projects: a project that is deleted and created again does not reset the sum", async () => {
    const { full, tenant } = await fullTenant();
    const projects = `/v1/tenants/${tenant.tenant_id}/projects`;
    for (let round = 0; round < 2; round++) {
      const { id } = okOf(await tenant.call("POST", projects, { body: { name: "again" } }));
      expect((await tenant.call("DELETE", `${projects}/${id}`)).status).toBe(204);
    }
    expect(outcome(await full.create())).toEqual(REFUSED);
  });
});

describe("S-48: the expiry of a key", () => {
  type Maker = {
    readonly what: string;
    readonly paths: readonly string[];
    readonly secret: string;
    readonly ends: string;
  };

  /** Creates keys of an operator, of a tenant and of a member of a tenant. Each expires in an hour. */
  async function expiring(): Promise<Maker[]> {
    const tenant = await openTenant(t);
    const own = "/v1/auth/api-keys";
    const ofTenant = `/v1/tenants/${tenant.tenant_id}/api-keys`;
    const ends = await later(HOUR_MS);
    const body = { description: "parent", expires_at: ends };
    const member = await signedIn({ tenant_id: tenant.tenant_id });
    const make = async (key: string, path: string) => okOf(await t.call("POST", path, { key, body })).secret as string;
    return [
      { what: "operator", paths: [own, ofTenant], secret: await make(ROOT_KEY, own), ends },
      { what: "tenant", paths: [own, ofTenant], secret: await make(tenant.key, ofTenant), ends },
      { what: "member", paths: [own, ofTenant], secret: await make(member.key, own), ends },
    ];
  }

  test("limits the expiry of the keys that the key creates; a later expiry gets a 400 that names the limit", async () => {
    for (const { what, paths, secret: key, ends } of await expiring()) {
      for (const path of paths) {
        const make = (body: object) => t.call("POST", path, { key, body: { description: "child", ...body } });
        const before = okOf(await t.call("GET", "/v1/auth/api-keys", { key })).length;
        for (const ms of [1, HOUR_MS, 100 * 365 * 24 * HOUR_MS]) {
          const { status, body } = await make({ expires_at: new Date(Date.parse(ends) + ms).toISOString() });
          const message = `expires_at: must be at or before ${ends}, the expiry of the key that makes this request`;
          expect([what, path, status, body.message]).toEqual([what, path, 400, message]);
        }
        expect(okOf(await t.call("GET", "/v1/auth/api-keys", { key }))).toHaveLength(before);
        for (const body of [{}, { expires_at: null }, { expires_at: ends }]) {
          expect([what, path, okOf(await make(body)).expires_at]).toEqual([what, path, ends]);
        }
        const sooner = new Date(Date.parse(ends) - 1_000).toISOString();
        expect(okOf(await make({ expires_at: sooner })).expires_at).toBe(sooner);
      }
    }
  });

  test("also limits the keys that a created key creates", async () => {
    for (const { what, paths: [path = ""], secret, ends } of await expiring()) {
      let key = secret;
      for (let generation = 0; generation < 3; generation++) {
        const child = okOf(await t.call("POST", path, { key, body: { description: "child" } }));
        expect([what, child.expires_at]).toEqual([what, ends]);
        key = child.secret;
      }
    }
  });

  test("prevents the key from creating users and setting passwords, which would outlive the key", async () => {
    const operator = await signedIn({ capabilities: ["system-operate", "system-read"] });
    const other = await signedIn({});
    const expires_at = await later(HOUR_MS);
    for (const owner of [ROOT_KEY, operator.key]) {
      const body = { description: "e", expires_at };
      const { secret: key } = okOf(await t.call("POST", "/v1/auth/api-keys", { key: owner, body }));
      const user = { username: `late-${randomUUID()}`, password: PASSWORD };
      const answers = [
        await t.call("POST", "/v1/system/users", { key, body: user }),
        await t.call("PUT", `/v1/system/users/${other.id}/password`, { key, body: { password: "taken over by key" } }),
      ];
      for (const { status, body } of answers) {
        expect([status, body.error_code, body.message]).toEqual([403, "Forbidden", expect.stringContaining("outlive")]);
      }
      expect((await login(user.username)).status).toBe(401);
      expect((await login(other.username)).status).toBe(200);
    }
  });

  test("does not apply to a session, which is not a key: a logged-in user creates keys without an expiry", async () => {
    const { key } = await signedIn({});
    const made = okOf(await t.call("POST", "/v1/auth/api-keys", { key, body: { description: "mine" } }));
    expect(made.expires_at).toBe(null);
  });
});

describe("S-48: rates", () => {
  test("a new user or a new session does not raise the login limit of an address", async () => {
    const limited = await openTestControlPlane({ env: { BERTH_LOGIN_PER_MINUTE: "4" } });
    const names = ["ada", "ben", "cyd"];
    for (const username of names) {
      okOf(await limited.call("POST", "/v1/system/users", { body: { username, password: PASSWORD } }));
    }
    const statuses: number[] = [];
    for (const username of [...names, ...names]) statuses.push((await login(username, limited)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429]);
    okOf(await limited.call("POST", "/v1/system/users", { body: { username: "dee", password: PASSWORD } }));
    expect((await login("dee", limited)).status).toBe(429);
    await limited.close();
  });

  test("a new key does not raise the approval limit of an address", async () => {
    const limited = await openTestControlPlane({ env: { BERTH_APPROVE_PER_MINUTE: "3" } });
    const statuses: number[] = [];
    for (let n = 0; n < 5; n++) {
      const { secret: key } = await limited.mintKey("full");
      statuses.push((await limited.approve("ABC234", { key })).status);
    }
    expect(statuses).toEqual([404, 404, 404, 429, 429]);
    await limited.close();
  });
});
