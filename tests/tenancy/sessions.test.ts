// Tests login sessions (docs/tenancy.md, "Credentials"; docs/reliability.md S-10 and S-11).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ACCESS_TOKEN_TTL_S, REFRESH_REPEAT_S, REFRESH_TOKEN_TTL_S } from "../../src/contract/limits.ts";
import { VERSION } from "../../src/version.ts";
import { type Answer, openTestControlPlane, ROOT_KEY, type TestControlPlane } from "../support/control-plane.ts";
import { dumpTables, tablesWith } from "../support/dump.ts";
import { addUser } from "../api/user.ts";
import { openTenant } from "./tenant.ts";

const UNLIMITED = { BERTH_LOGIN_PER_MINUTE: "1000000" };
let t: TestControlPlane;
/** A second process on the same database. */
let second: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane({ env: UNLIMITED });
  second = await openTestControlPlane({ env: UNLIMITED, databaseUrl: t.databaseUrl });
});
afterAll(async () => {
  await second.close();
  await t.close();
});

const PASSWORD = "a long enough password";
let users = 0;

async function newUser(fields: Record<string, unknown> = {}): Promise<{ id: string; username: string }> {
  users += 1;
  const body = { username: `user-${users}`, password: PASSWORD, ...fields };
  const made = await t.call("POST", "/v1/system/users", { body });
  expect(made.status).toBe(201);
  return made.body;
}

const login = (username: string, password = PASSWORD, on = t) =>
  on.call("POST", "/v1/auth/login", { key: null, body: { username, password } });
const refresh = (refresh_token: string, on = t) =>
  on.call("POST", "/v1/auth/refresh", { key: null, body: { refresh_token } });
const logout = (key: string) => t.call("POST", "/v1/auth/logout", { key });
const whoami = (key: string, on = t) => on.call("GET", "/v1/auth/whoami", { key });
const statusOf = async (key: string, on = t) => (await whoami(key, on)).status;
const claimsOf = (token: string) => JSON.parse(atob(token.split(".")[1]!.replaceAll("-", "+").replaceAll("_", "/")));
const without = ({ request_id: _, ...rest }: Record<string, unknown>) => rest;

async function session(fields?: Record<string, unknown>) {
  const user = await newUser(fields);
  return { user, ...(await login(user.username)).body };
}

async function auditOf(action: string): Promise<Record<string, unknown>[]> {
  const { body } = await t.call("GET", "/v1/audit/events?limit=1000");
  return body.events.filter((event: { action: string }) => event.action === action);
}

test("a login returns tokens with the specified claims, and the caller is the user", async () => {
  const tenant = await openTenant(t);
  const { user, ...tokens } = await session({ tenant_id: tenant.tenant_id });
  expect(Object.keys(tokens).sort()).toEqual([
    "access_expires_at",
    "access_token",
    "refresh_expires_at",
    "refresh_token",
  ]);
  const access = claimsOf(tokens.access_token);
  const whose = { sub: user.id, sid: expect.any(String), iat: expect.any(Number) };
  expect(access).toEqual({
    ...whose,
    exp: access.iat + ACCESS_TOKEN_TTL_S,
    typ: "access",
    tenant_id: tenant.tenant_id,
  });
  expect(claimsOf(tokens.refresh_token)).toEqual({
    ...whose,
    exp: access.iat + REFRESH_TOKEN_TTL_S,
    typ: "refresh",
    jti: expect.any(String),
  });
  expect(Date.parse(tokens.access_expires_at)).toBe(access.exp * 1_000);
  expect((await whoami(tokens.access_token)).body).toEqual({
    user_id: user.id,
    username: user.username,
    is_root: false,
    capabilities: [],
    tenant_id: tenant.tenant_id,
    tenant_name: "acme",
    home_silo_id: tenant.silo_id,
    silo_id: tenant.silo_id,
    silo_name: expect.stringContaining("acme"),
    key_id: null,
    session_id: access.sid,
    scope: null,
    bound_to_cn: null,
    expires_at: tokens.access_expires_at,
    actions: expect.arrayContaining(["instance_create"]),
    version: VERSION,
  });
  expect((await t.call("GET", `/v1/tenants/${tenant.tenant_id}/projects`, { key: tokens.access_token })).status)
    .toBe(200);
});

test("an unknown user, a wrong password, an empty password and a user without a password get the same 401", async () => {
  const user = await newUser();
  const keyed = `keyed-${users}`;
  await addUser(t.db, keyed);
  const answers: Answer[] = [];
  for (
    const [name, password] of [
      ["nobody", PASSWORD],
      [user.username, "wrong"],
      [user.username, ""],
      [keyed, PASSWORD],
      [
        "root",
        PASSWORD,
      ],
      [`${user.username} `, PASSWORD],
      [user.username.toUpperCase(), PASSWORD],
      ["\u{1F600}", PASSWORD],
    ] as const
  ) answers.push(await login(name, password));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
  expect(new Set(answers.map(({ body }) => JSON.stringify(without(body)))).size).toBe(1);
  expect(answers[0]?.headers.get("www-authenticate")).toBe("Bearer");
  expect(answers[0]?.body.error_code).toBe("Unauthenticated");
});

test("passwords are stored as argon2id hashes, and the database contains neither passwords nor tokens", async () => {
  const password = `canary-${randomUUID()}`;
  const user = await newUser({ password });
  const headers = { "idempotency-key": randomUUID() };
  const body = { username: user.username, password };
  const first = await t.call("POST", "/v1/auth/login", { key: null, body, headers });
  const again = await t.call("POST", "/v1/auth/login", { key: null, body, headers });
  expect(again).toMatchObject({ status: 200, body: first.body });
  const next = await refresh(first.body.refresh_token);
  const dump = await dumpTables(t.db);
  const secrets = [first.body, next.body].flatMap(({ access_token, refresh_token }) => [access_token, refresh_token]);
  for (const secret of [password, ...secrets.map((token) => token.split(".")[2])]) {
    expect(tablesWith(dump, secret)).toEqual([]);
  }
  const { rows } = await t.db.query("select password_hash from user_account where id = $1", [user.id]);
  expect(rows[0]?.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
});

describe("a refresh", () => {
  test("returns new tokens, and a repeat with the previous refresh token gets the same tokens again", async () => {
    const first = await session();
    const next = await refresh(first.refresh_token);
    expect(next.status).toBe(200);
    expect(next.body.refresh_token).not.toBe(first.refresh_token);
    expect(await statusOf(next.body.access_token)).toBe(200);
    expect((await refresh(first.refresh_token)).body).toEqual(next.body);
    expect((await refresh(first.refresh_token, second)).body).toEqual(next.body);
  });

  test("that repeats the previous token after the period for lost responses ends the session", async () => {
    const first = await session();
    const next = await refresh(first.refresh_token);
    await t.advance(REFRESH_REPEAT_S + 1);
    expect((await refresh(first.refresh_token)).status).toBe(401);
    expect((await refresh(next.body.refresh_token)).status).toBe(401);
    expect(await statusOf(next.body.access_token)).toBe(401);
  });

  test("with a token older than the previous token ends the session at once in all processes, and is audited", async () => {
    const first = await session();
    const next = await refresh(first.refresh_token);
    const last = await refresh(next.body.refresh_token);
    expect(last.status).toBe(200);
    expect((await refresh(first.refresh_token)).status).toBe(401);
    expect(await statusOf(last.body.access_token, second)).toBe(401);
    expect((await refresh(last.body.refresh_token, second)).status).toBe(401);
    const { sid } = claimsOf(first.refresh_token);
    await expect.poll(() => auditOf("session_reuse"), { timeout: 30_000 })
      .toContainEqual(expect.objectContaining({ resource: `Session::"${sid}"` }));
  });

  test("with one token in two processes at the same time creates exactly one new generation", async () => {
    const first = await session();
    const both = Array.from({ length: 10 }, (_, n) => refresh(first.refresh_token, n % 2 === 0 ? t : second));
    const answers = await Promise.all(both);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1);
    const { sid } = claimsOf(first.refresh_token);
    const { rows } = await t.db.query("select generation from session where id = $1", [sid]);
    expect(rows[0]?.generation).toBe(2);
    expect((await refresh(answers[0]?.body.refresh_token)).status).toBe(200);
  });

  test("with anything but a valid refresh token of this server gets 401", async () => {
    const { access_token, refresh_token } = await session();
    const [head, body, sign] = refresh_token.split(".");
    const other = (await session()).refresh_token.split(".");
    for (
      const token of [
        "",
        "x",
        access_token,
        ROOT_KEY,
        `${head}.${body}.`,
        `${head}.${body}.${other[2]}`,
        `${head}.${other[1]}.${sign}`,
      ]
    ) {
      expect((await refresh(token)).status).toBe(401);
    }
    expect(await statusOf(refresh_token)).toBe(401);
    expect((await refresh(refresh_token)).status).toBe(200);
  });
});

test("an access token is rejected from its expiry on, and a session from the expiry of its refresh token on", async () => {
  const first = await session();
  const { rows } = await t.db.query<{ now: Date }>("select berth_now() as now");
  const left_s = Math.floor((Date.parse(first.access_expires_at) - (rows[0]?.now.getTime() ?? 0)) / 1_000);
  await t.advance(left_s - 30);
  expect(await statusOf(first.access_token)).toBe(200);
  await t.advance(31);
  expect(await statusOf(first.access_token)).toBe(401);
  await t.advance(REFRESH_TOKEN_TTL_S - ACCESS_TOKEN_TTL_S);
  expect((await refresh(first.refresh_token)).status).toBe(401);
  const gone = async () => (await t.db.query("select from session where id = $1", [claimsOf(first.access_token).sid]));
  await expect.poll(async () => (await gone()).rowCount, { timeout: 30_000 }).toBe(0);
});

test("a logout ends the session in every process; other sessions of the user continue; a key has no session", async () => {
  const user = await newUser();
  const [first, other] = [(await login(user.username)).body, (await login(user.username)).body];
  expect((await logout(first.access_token)).status).toBe(204);
  expect([await statusOf(first.access_token), await statusOf(first.access_token, second)]).toEqual([401, 401]);
  expect((await refresh(first.refresh_token)).status).toBe(401);
  expect(await statusOf(other.access_token)).toBe(200);
  const ofKey = await logout(ROOT_KEY);
  expect(ofKey).toMatchObject({ status: 400, body: { error_code: "BadRequest" } });
});

describe("a new password", () => {
  const change = (key: string, current_password: string, password: string) =>
    t.call("POST", "/v1/auth/password", { key, body: { current_password, password } });

  test("set by the user needs the current password, and ends every session in every process", async () => {
    const { user, access_token, refresh_token } = await session();
    const other = (await login(user.username)).body;
    expect((await change(access_token, "wrong", "another long password")).body.message).toContain("current_password");
    expect(await statusOf(access_token)).toBe(200);
    expect((await change(access_token, PASSWORD, "another long password")).status).toBe(204);
    for (const on of [t, second]) {
      expect([await statusOf(access_token, on), await statusOf(other.access_token, on)]).toEqual([401, 401]);
    }
    expect((await refresh(refresh_token)).status).toBe(401);
    expect((await login(user.username)).status).toBe(401);
    expect((await login(user.username, "another long password")).status).toBe(200);
  });

  test("set by an operator ends the user's sessions, and is in no response", async () => {
    const { user, access_token } = await session();
    const path = `/v1/system/users/${user.id}/password`;
    const set = await t.call("PUT", path, { body: { password: "set by an operator" } });
    expect(set).toMatchObject({ status: 200, body: user });
    expect(set.text).not.toContain("argon2");
    expect(await statusOf(access_token, second)).toBe(401);
    expect((await login(user.username, "set by an operator")).status).toBe(200);
  });

  test("is not set with a wrong current password, even if the request is repeated", async () => {
    const { user, id, key } = { ...(await session()), ...(await addUser(t.db, `repeats-${users}`)) };
    await t.call("PUT", `/v1/system/users/${id}/password`, { body: { password: PASSWORD } });
    const given = {
      key,
      body: { current_password: "wrong", password: "another long password" },
      headers: { "idempotency-key": randomUUID() },
    };
    expect((await t.call("POST", "/v1/auth/password", given)).status).toBe(400);
    expect((await t.call("POST", "/v1/auth/password", given)).status).toBe(400);
    expect((await login(`repeats-${users}`)).status).toBe(200);
    expect((await login(user.username)).status).toBe(200);
  });

  test("is refused for a key that is bound to a tenant", async () => {
    const root = (await whoami(ROOT_KEY)).body;
    await t.call("PUT", `/v1/system/users/${root.user_id}/password`, { body: { password: PASSWORD } });
    const tenant = await openTenant(t);
    expect((await change(tenant.key, PASSWORD, "another long password")).status).toBe(409);
    expect((await login("root")).status).toBe(200);
    expect((await change(ROOT_KEY, PASSWORD, "another long password")).status).toBe(204);
  });
});

test("the delete of a user ends its sessions", async () => {
  const { user, access_token, refresh_token } = await session();
  expect((await t.call("DELETE", `/v1/system/users/${user.id}`)).status).toBe(204);
  expect(await statusOf(access_token, second)).toBe(401);
  expect((await refresh(refresh_token)).status).toBe(401);
  expect((await login(user.username)).status).toBe(401);
});

test("a session of the root operator has root's rights, and a session of another user does not", async () => {
  const root = (await whoami(ROOT_KEY)).body;
  await t.call("PUT", `/v1/system/users/${root.user_id}/password`, { body: { password: PASSWORD } });
  const { body } = await login("root");
  expect((await t.call("GET", "/v1/silos", { key: body.access_token })).status).toBe(200);
  expect((await t.call("GET", "/v1/silos", { key: (await session()).access_token })).status).toBe(403);
});

test("logins, refreshes and refused logins are audited under the user; an unknown name is not stored", async () => {
  const { user, refresh_token } = await session();
  await refresh(refresh_token);
  await login(user.username, "wrong");
  await login("canary-of-a-password", "wrong");
  const resource = `Session::"${claimsOf(refresh_token).sid}"`;
  const actor = { kind: "operator", user_id: user.id, is_root: false };
  for (const action of ["login", "refresh"]) {
    await expect.poll(() => auditOf(action), { timeout: 30_000 })
      .toContainEqual(expect.objectContaining({ actor, resource, decision: "allow" }));
  }
  const refused = { actor: { kind: "anonymous" }, decision: "deny" };
  const events = () => auditOf("login");
  await expect.poll(events, { timeout: 30_000 })
    .toContainEqual(expect.objectContaining({ ...refused, resource: `User::"${user.id}"` }));
  await expect.poll(events, { timeout: 30_000 }).toContainEqual(
    expect.objectContaining({ ...refused, resource: null }),
  );
  expect(tablesWith(await dumpTables(t.db), "canary-of-a-password")).toEqual([]);
});

test("logins of one address are limited before all other checks, over all processes", async () => {
  const limit = { env: { BERTH_LOGIN_PER_MINUTE: "1" } };
  const own = await openTestControlPlane(limit);
  const other = await openTestControlPlane({ ...limit, databaseUrl: own.databaseUrl });
  const attempt = (on: TestControlPlane, options = {}) =>
    on.call("POST", "/v1/auth/login", { key: null, body: { username: "u", password: "p" }, ...options });
  expect((await attempt(own)).status).toBe(401);
  const refused = [await attempt(own), await attempt(other), await attempt(own, { body: {} })];
  for (const { status, headers, body } of refused) {
    expect([status, body.error_code]).toEqual([429, "TooManyRequests"]);
    expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  }
  expect((await attempt(own, { address: "192.0.2.77" })).status).toBe(401);
  const change = { key: ROOT_KEY, body: { current_password: "x", password: "another long password" } };
  expect((await own.call("POST", "/v1/auth/password", change)).status).toBe(429);
  await other.close();
  await own.close();
});
