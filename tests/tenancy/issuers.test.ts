// Tests the identity and the rights of tokens of other issuers (docs/tenancy.md, "Credentials"; docs/reliability.md
// S-03, S-04, S-11).
import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ISSUER_URL_RULE } from "../../src/auth/issuer-url.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { LOOPBACK_ALLOWED } from "../support/loopback.ts";
import { dumpTables, tablesWith } from "../support/dump.ts";
import { type LocalIssuer, openLocalIssuer } from "../auth/local-issuer.ts";
import { openTenant, type TestTenant } from "./tenant.ts";

const AUDIENCE = "berth-site";
let t: TestControlPlane;
let second: TestControlPlane;
let service: LocalIssuer;
let acme: TestTenant;
let other: TestTenant;
const open: LocalIssuer[] = [];

const now_ms = async () => (await t.db.query<{ now: Date }>("select berth_now() as now")).rows[0]!.now.getTime();

async function newIssuer(): Promise<LocalIssuer> {
  const issuer = await openLocalIssuer(now_ms);
  open.push(issuer);
  return issuer;
}

beforeAll(async () => {
  service = await newIssuer();
  const env = { ...LOOPBACK_ALLOWED, BERTH_IDENTITY_ISSUER: service.issuer, BERTH_IDENTITY_AUDIENCE: AUDIENCE };
  t = await openTestControlPlane({ env });
  second = await openTestControlPlane({ env, databaseUrl: t.databaseUrl });
  acme = await openTenant(t, "acme");
  other = await openTenant(t, "other");
});
afterAll(async () => {
  await second.close();
  await t.close();
  await Promise.all(open.map((issuer) => issuer.close()));
});

const idpPath = (tenant: TestTenant) => `/v1/tenants/${tenant.tenant_id}/idp`;
const setIdp = (tenant: TestTenant, issuer_url: string, fields: Record<string, unknown> = {}) =>
  t.call("POST", idpPath(tenant), { body: { issuer_url, client_id: "client", client_secret: "hush", ...fields } });
const whoami = (key: string, on = t) => on.call("GET", "/v1/auth/whoami", { key });
const projects = (tenant: TestTenant, key: string, on = t) =>
  on.call("GET", `/v1/tenants/${tenant.tenant_id}/projects`, { key });

test("an issuer's URL of 2,048 ASCII characters is accepted; a URL with other characters gets a 400 that states the rule", async () => {
  const { tenant_id } = await openTenant(t);
  // PostgreSQL cannot put 6 kB into an index if the text does not compress.
  const others = Array.from(randomBytes(2_000), (byte, at) => String.fromCharCode(0x4e00 + byte + 256 * (at % 64)));
  for (const text of [others.join(""), "é", "\u00a0"]) {
    const { status, body } = await setIdp({ ...acme, tenant_id }, `https://id.example/${text}`);
    expect([status, body.message]).toEqual([400, `issuer_url: ${ISSUER_URL_RULE}`]);
  }
  const longest = `https://id.example/${randomBytes(1_100).toString("hex")}`.slice(0, 2_048);
  expect((await setIdp({ ...acme, tenant_id }, `${longest}x`)).body.message).toMatch(/^body\.issuer_url: /);
  expect(okOf(await setIdp({ ...acme, tenant_id }, longest)).issuer_url).toBe(longest);
});

describe("a token of the identity service", () => {
  const sign = (claims: Record<string, unknown>) => service.sign({ sub: randomUUID(), aud: AUDIENCE, ...claims });

  test("acts as a member of the tenant that it names, and of no other tenant", async () => {
    const key = await sign({ sub: "alice", tenant_id: acme.tenant_id, scope: "full" });
    expect((await whoami(key)).body).toMatchObject({
      user_id: expect.any(String),
      username: `alice@${service.issuer}`,
      is_root: false,
      capabilities: [],
      tenant_id: acme.tenant_id,
      tenant_name: "acme",
      home_silo_id: acme.silo_id,
      silo_id: acme.silo_id,
      key_id: null,
      scope: "full",
      bound_to_cn: null,
      expires_at: expect.any(String),
    });
    expect([(await projects(acme, key)).status, (await projects(other, key)).status]).toEqual([200, 404]);
    expect((await t.call("GET", "/v1/silos", { key })).status).toBe(403);
  });

  test("of a tenant that does not exist gets 401", async () => {
    expect((await whoami(await sign({ tenant_id: randomUUID() }))).status).toBe(401);
    expect((await whoami(await sign({ tenant_id: "acme" }))).status).toBe(401);
  });

  test("of the system realm has root's rights within its scope", async () => {
    const [full, read] = [
      await sign({ realm_scope: "system", scope: "admin" }),
      await sign({ realm_scope: "system", scope: "read" }),
    ];
    expect((await t.call("GET", "/v1/silos", { key: full })).status).toBe(200);
    expect((await t.call("POST", "/v1/silos", { key: full, body: { name: "by-token" } })).status).toBe(201);
    expect((await t.call("GET", "/v1/silos", { key: read })).status).toBe(200);
    expect((await t.call("POST", "/v1/silos", { key: read, body: { name: "by-token-2" } })).status).toBe(403);
    expect((await t.call("GET", "/v1/silos", { key: await sign({ realm_scope: "System" }) })).status).toBe(403);
  });

  test.each([["full", "full"], ["admin", "full"], ["read", "read_only"], ["FULL", "read_only"], [
    "not full",
    "read_only",
  ], [
    "",
    "read_only",
  ], [undefined, "read_only"]])("with the scope %j has the rights of %s", async (scope, expected) => {
    const key = await sign({ tenant_id: acme.tenant_id, scope });
    expect((await whoami(key)).body.scope).toBe(expected);
    const made = await t.call("POST", `/v1/tenants/${acme.tenant_id}/projects`, { key, body: { name: randomUUID() } });
    expect(made.status).toBe(expected === "full" ? 201 : 404);
  });

  test("of one subject is always the same user in one tenant, and another user in another tenant", async () => {
    const of = async (tenant_id: string) => (await whoami(await sign({ sub: "bob", tenant_id }))).body.user_id;
    const ids = await Promise.all(Array.from({ length: 6 }, () => of(acme.tenant_id)));
    expect(new Set(ids).size).toBe(1);
    expect(await of(other.tenant_id)).not.toBe(ids[0]);
    const { body } = await t.call("GET", `/v1/system/users/${ids[0]}`);
    expect(body).toMatchObject({ tenant_id: acme.tenant_id, issuer: service.issuer, is_root: false });
  });

  test("of the system realm creates no root user, and no key with more rights than the user", async () => {
    const key = await sign({ sub: "carol", realm_scope: "system", scope: "full" });
    const made = okOf(await t.call("POST", "/v1/auth/api-keys", { key, body: { description: "d" } }));
    expect((await whoami(made.secret)).body.is_root).toBe(false);
    expect((await t.call("GET", "/v1/silos", { key: made.secret })).status).toBe(403);
  });

  test("that names a node acts as that node only", async () => {
    const [node, foreign] = [await t.approvedNode(), await t.register()];
    const claims = { realm_scope: "system", scope: "full", tenant_id: acme.tenant_id };
    const key = await sign({ ...claims, cnf: { server_uuid: node.server_uuid } });
    expect((await whoami(key)).body).toMatchObject({
      is_root: false,
      capabilities: [],
      tenant_id: null,
      silo_id: null,
      scope: "agent",
      bound_to_cn: node.server_uuid,
    });
    expect((await t.call("POST", "/v1/agent/heartbeat", { key })).status).toBe(200);
    expect((await t.call("GET", "/v1/silos", { key })).status).toBe(403);
    expect((await projects(acme, key)).status).toBe(404);
    // A node without approval has no rights.
    expect((await whoami(await sign({ cnf: { server_uuid: foreign.server_uuid } }))).status).toBe(401);
    okOf(await t.call("POST", `/v1/cns/${node.server_uuid}/disable`));
    okOf(await t.call("DELETE", `/v1/cns/${node.server_uuid}`));
    expect((await whoami(key)).status).toBe(401);
  });
});

describe("the identity provider of a tenant", () => {
  test("is set, shown, replaced and removed; its secret is sealed and never shown", async () => {
    const tenant = await openTenant(t);
    const secret = `canary-${randomUUID()}`;
    const set = await setIdp(tenant, "https://one.example", { client_secret: secret });
    expect(set).toMatchObject({ status: 201 });
    expect(set.body).toEqual({
      tenant_id: tenant.tenant_id,
      issuer_url: "https://one.example",
      client_id: "client",
      audience: "client",
      created_at: expect.any(String),
    });
    expect((await t.call("GET", idpPath(tenant))).body).toEqual(set.body);
    expect(tablesWith(await dumpTables(t.db), secret)).toEqual([]);
    const replaced = await setIdp(tenant, "https://two.example", { audience: "a" });
    expect(replaced.body).toMatchObject({ issuer_url: "https://two.example", audience: "a" });
    expect((await t.call("DELETE", idpPath(tenant))).status).toBe(204);
    expect((await t.call("GET", idpPath(tenant))).status).toBe(404);
    expect((await t.call("DELETE", idpPath(tenant))).status).toBe(404);
  });

  test("needs a root operator, a tenant that exists and a valid URL of the issuer", async () => {
    expect((await acme.call("GET", idpPath(acme))).status).toBe(403);
    const body = { issuer_url: "https://mine.example", client_id: "c", client_secret: "s" };
    expect((await acme.call("POST", idpPath(acme), { body })).status).toBe(403);
    expect((await t.call("POST", `/v1/tenants/${randomUUID()}/idp`, { body })).status).toBe(404);
    for (const url of ["http://id.example", "id.example", "https://u:p@id.example", "https://id.example/?a"]) {
      expect(await setIdp(acme, url)).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining("issuer_url") },
      });
    }
  });

  test("belongs to one tenant, and is never the identity service", async () => {
    const [one, two] = [await openTenant(t), await openTenant(t)];
    const url = `https://${randomUUID()}.example`;
    expect((await setIdp(one, url)).status).toBe(201);
    expect(await setIdp(two, url)).toMatchObject({ status: 409, body: { message: expect.stringContaining(url) } });
    expect((await setIdp(two, service.issuer)).status).toBe(409);
    expect((await t.call("DELETE", idpPath(one))).status).toBe(204);
    expect((await setIdp(two, url)).status).toBe(201);
  });

  test("prevents the delete of its tenant, and the 409 names the identity provider", async () => {
    const tenant = await openTenant(t);
    await setIdp(tenant, `https://${randomUUID()}.example`);
    okOf(await tenant.call("DELETE", `/v1/tenants/${tenant.tenant_id}/projects/${tenant.project_id}`));
    const refused = await t.call("DELETE", `/v1/silos/${tenant.silo_id}/tenants/${tenant.tenant_id}`);
    expect(refused).toMatchObject({ status: 409, body: { message: expect.stringContaining("identity provider") } });
  });
});

describe("a token of a tenant's issuer", () => {
  test("makes its user a member of that tenant, whatever tenant the token names", async () => {
    const issuer = await newIssuer();
    okOf(await setIdp(acme, issuer.issuer));
    const key = await issuer.sign({
      sub: "dave",
      aud: "client",
      tenant_id: other.tenant_id,
      silo_id: other.silo_id,
      realm_scope: "system",
      scope: "admin",
      is_root: true,
    });
    expect((await whoami(key)).body).toMatchObject({
      username: `dave@${issuer.issuer}`,
      is_root: false,
      capabilities: [],
      tenant_id: acme.tenant_id,
      silo_id: acme.silo_id,
      scope: "full",
      bound_to_cn: null,
    });
    expect([(await projects(acme, key)).status, (await projects(other, key)).status]).toEqual([200, 404]);
    expect((await t.call("GET", "/v1/silos", { key })).status).toBe(403);
    const users = okOf(await t.call("GET", "/v1/system/users")).items;
    expect(users).toContainEqual(expect.objectContaining({
      username: `dave@${issuer.issuer}`,
      issuer: issuer.issuer,
      tenant_id: acme.tenant_id,
    }));
    const { user_id } = (await whoami(key)).body;
    const set = { body: { password: "a long enough password" } };
    expect((await t.call("PUT", `/v1/system/users/${user_id}/password`, set)).status).toBe(409);
  });

  test("creates one user, even if several tokens arrive at the same time in two processes", async () => {
    const issuer = await newIssuer();
    const tenant = await openTenant(t);
    okOf(await setIdp(tenant, issuer.issuer));
    const key = await issuer.sign({ sub: "erin", aud: "client" });
    const seen = await Promise.all([t, second, t, second].map((on) => whoami(key, on)));
    expect(new Set(seen.map(({ body }) => body.user_id)).size).toBe(1);
  });

  test("is valid for the configured audience or for the client id", async () => {
    const issuer = await newIssuer();
    const tenant = await openTenant(t);
    okOf(await setIdp(tenant, issuer.issuer, { audience: "the-api" }));
    for (
      const [aud, status] of [["the-api", 200], ["client", 200], [["x", "the-api"], 200], ["x", 401], [
        [],
        401,
      ]] as const
    ) {
      const key = await issuer.sign({ sub: "s", aud: aud as string | string[] });
      expect([aud, (await whoami(key)).status]).toEqual([aud, status]);
    }
  });

  test("is rejected by every process as soon as the identity provider is removed", async () => {
    const issuer = await newIssuer();
    const tenant = await openTenant(t);
    okOf(await setIdp(tenant, issuer.issuer));
    const key = await issuer.sign({ sub: "frank", aud: "client" });
    expect([(await projects(tenant, key)).status, (await projects(tenant, key, second)).status]).toEqual([200, 200]);
    okOf(await t.call("DELETE", idpPath(tenant)));
    expect([(await projects(tenant, key)).status, (await projects(tenant, key, second)).status]).toEqual([401, 401]);
  });

  test("gives no access to the tenant that its issuer belonged to before", async () => {
    const issuer = await newIssuer();
    const [before, after] = [await openTenant(t), await openTenant(t)];
    okOf(await setIdp(before, issuer.issuer));
    const key = await issuer.sign({ sub: "grace", aud: "client" });
    const first = (await whoami(key)).body;
    okOf(await t.call("DELETE", idpPath(before)));
    okOf(await setIdp(after, issuer.issuer));
    const now = (await whoami(key)).body;
    expect([first.tenant_id, now.tenant_id]).toEqual([before.tenant_id, after.tenant_id]);
    expect(now.user_id).not.toBe(first.user_id);
    expect((await projects(before, key)).status).toBe(404);
  });

  test("gets 503 while its issuer is unreachable, never an anonymous answer, and other credentials still work", async () => {
    const issuer = await newIssuer();
    const tenant = await openTenant(t);
    okOf(await setIdp(tenant, issuer.issuer));
    const key = await issuer.sign({ sub: "heidi", aud: "client" });
    issuer.behave({ status: 500 });
    for (const path of ["/v1/auth/whoami", "/v1/health", `/v1/tenants/${tenant.tenant_id}/projects`]) {
      const answer = await t.call("GET", path, { key });
      expect([path, answer.status]).toEqual([path, 503]);
      expect(answer.text).not.toContain(issuer.issuer);
    }
    expect((await projects(tenant, tenant.key)).status).toBe(200);
  });
});
