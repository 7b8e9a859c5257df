// A caller can list and end its own sessions. Other callers cannot see these sessions.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { openTenant } from "../tenancy/tenant.ts";
import { newLogin, type TestLogin } from "./login.ts";

let t: TestControlPlane;
let alice: TestLogin;
let bob: TestLogin;
beforeAll(async () => {
  t = await openTestControlPlane();
  alice = await newLogin(t);
  bob = await newLogin(t);
});
afterAll(() => t.close());

const sessions = async (key?: string) => okOf(await t.call("GET", "/v1/auth/sessions", { key }));
const webSession = async (body: object) =>
  (await t.call("POST", "/v1/console/session", { key: null, body })).headers
    .get("set-cookie")!.split(";")[0]!;

test("a user sees only the user's own sessions, and the list marks the session that the request uses", async () => {
  const own = await sessions(alice.token);
  expect(own).toEqual([{
    id: own[0].id,
    kind: "token",
    api_key_id: null,
    created_at: own[0].created_at,
    refreshed_at: own[0].created_at,
    expires_at: own[0].expires_at,
    is_current: true,
  }]);
  const cookie = await webSession({ username: alice.username, password: "a long enough password" });
  const seen = okOf(await t.call("GET", "/v1/auth/sessions", { key: null, headers: { cookie } }));
  expect(seen.map(({ kind, is_current }: Record<string, unknown>) => [kind, is_current])).toEqual([
    ["web", true],
    ["token", false],
  ]);
});

test("a session is refused after its user has ended it", async () => {
  const cookie = await webSession({ username: alice.username, password: "a long enough password" });
  const [web] = await sessions(alice.token);
  expect((await t.call("DELETE", `/v1/auth/sessions/${web.id}`, { key: alice.token })).status).toBe(204);
  expect((await t.call("GET", "/v1/auth/whoami", { key: null, headers: { cookie } })).status).toBe(401);
  expect((await t.call("DELETE", `/v1/auth/sessions/${web.id}`, { key: alice.token })).status).toBe(404);
});

test("ending another user's session gets 404, and the session continues", async () => {
  const [own] = await sessions(bob.token);
  expect((await t.call("DELETE", `/v1/auth/sessions/${own.id}`, { key: alice.token })).status).toBe(404);
  expect((await t.call("DELETE", `/v1/auth/sessions/${own.id}`)).status).toBe(404);
  expect(await sessions(bob.token)).toHaveLength(1);
});

test("a repeated request to end a session gets the first answer: 204 for an own session, 404 for another user's session", async () => {
  const headers = { "idempotency-key": randomUUID() };
  const end = (id: string) => t.call("DELETE", `/v1/auth/sessions/${id}`, { key: alice.token, headers });
  await webSession({ username: alice.username, password: "a long enough password" });
  const [web] = await sessions(alice.token);
  expect([(await end(web.id)).status, (await end(web.id)).status]).toEqual([204, 204]);
  const [other] = await sessions(bob.token);
  expect([(await end(other.id)).status, (await end(other.id)).status]).toEqual([404, 404]);
  expect(await sessions(bob.token)).toHaveLength(1);
});

test("a tenant's key sees the sessions that it opened, but no other sessions of the operator who owns the key", async () => {
  const tenant = await openTenant(t);
  const { secret } = await t.mintKey("full");
  const cookie = await webSession({ api_key: secret });
  await webSession({ api_key: tenant.key });
  const seen = await sessions(tenant.key);
  expect(seen.map(({ api_key_id }: Record<string, unknown>) => api_key_id)).toEqual([tenant.key_id]);
  const own = (await sessions()).find(({ api_key_id }: Record<string, unknown>) => api_key_id !== tenant.key_id);
  expect((await t.call("DELETE", `/v1/auth/sessions/${own.id}`, { key: tenant.key })).status).toBe(404);
  expect((await t.call("GET", "/v1/auth/whoami", { key: null, headers: { cookie } })).status).toBe(200);
});
