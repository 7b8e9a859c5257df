// Tests sessions of the web console: the cookie, the requests that may use it, and the end of a session
// (docs/web-console.md, "Sessions").
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCredentialReferences } from "../../src/auth/credential-reference.ts";
import {
  SESSION_LIFETIME_S_DEFAULT,
  WEB_SESSION_IDLE_S_DEFAULT,
  WEB_SESSION_TOUCH_S,
} from "../../src/contract/limits.ts";
import { okOf, openTestControlPlane, ROOT_KEY, type TestControlPlane } from "../support/control-plane.ts";
import { openTenant } from "../tenancy/tenant.ts";

const PASSWORD = "a long enough password";
const SAME = { "sec-fetch-site": "same-origin" };

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
});
afterAll(() => t.close());

let users = 0;

async function newUser(fields: Record<string, unknown> = {}): Promise<{ id: string; username: string }> {
  users += 1;
  return okOf(
    await t.call("POST", "/v1/system/users", { body: { username: `user-${users}`, password: PASSWORD, ...fields } }),
  );
}

const signIn = (body: unknown, headers: Record<string, string> = SAME) =>
  t.call("POST", "/v1/console/session", { key: null, body, headers });

/** Signs in and returns the Cookie header that a browser would send from now on. */
async function cookieOf(body: unknown): Promise<string> {
  const answer = await signIn(body);
  okOf(answer);
  return (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
}

const withCookie = (method: string, path: string, cookie: string, headers: Record<string, string> = SAME) =>
  t.call(method, path, { key: null, headers: { cookie, ...headers }, ...(method === "POST" && { body: {} }) });
const statusOf = async (cookie: string) => (await withCookie("GET", "/v1/auth/whoami", cookie)).status;

describe("signing in", () => {
  test("with a password returns the user and a cookie that a browser sends only to this server", async () => {
    const user = await newUser();
    const answer = await signIn({ username: user.username, password: PASSWORD });
    expect(okOf(answer)).toMatchObject({ user_id: user.id, username: user.username, is_root: false, key_id: null });
    const [value, ...attributes] = (answer.headers.get("set-cookie") ?? "").split("; ");
    expect(value).toMatch(/^__Host-berth=[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(attributes.sort()).toEqual(
      [`Max-Age=${SESSION_LIFETIME_S_DEFAULT}`, "HttpOnly", "Path=/", "SameSite=Strict", "Secure"].sort(),
    );
    expect(await statusOf(value ?? "")).toBe(200);
  });

  test("with the root key opens a session that has the key's rights and lists its actions", async () => {
    const cookie = await cookieOf({ api_key: ROOT_KEY });
    const who = okOf(await withCookie("GET", "/v1/auth/whoami", cookie));
    expect(who).toMatchObject({ is_root: true, scope: "full", key_id: expect.any(String) });
    expect(who.actions).toEqual(expect.arrayContaining(["cn_approve", "audit_list"]));
    expect(who.version).toMatch(/^\d/);
  });

  describe("with a key", () => {
    /** Creates a key and a user, and sets the password of another user, in a session that `api_key` opened. */
    async function madeWith(api_key: string) {
      const cookie = await cookieOf({ api_key });
      const send = (method: string, path: string, body: object) =>
        t.call(method, path, { key: null, headers: { cookie, ...SAME }, body });
      const key = okOf(await send("POST", "/v1/auth/api-keys", { description: "made in the console" }));
      const other = await newUser();
      const user = { username: `${other.username}-made`, password: PASSWORD };
      const password = `/v1/system/users/${other.id}/password`;
      return {
        expires_at: key.expires_at,
        user: (await send("POST", "/v1/system/users", user)).status,
        password: (await send("PUT", password, { password: PASSWORD })).status,
      };
    }

    test("that never expires opens a session that may create users, passwords, and keys without an expiry", async () => {
      expect(await madeWith(ROOT_KEY)).toEqual({ expires_at: null, user: 201, password: 200 });
    });

    test("that expires opens a session that cannot create users or passwords, and whose keys expire at the same time", async () => {
      const expires_at = new Date(Date.now() + 3_600_000).toISOString();
      const { secret } = await t.mintKey("full", { expires_at });
      expect(await madeWith(secret)).toEqual({ expires_at, user: 403, password: 403 });
    });
  });

  test("with a read-only key of a tenant opens a session that has only the key's rights", async () => {
    const tenant = await openTenant(t, "web-session");
    const key = okOf(
      await t.call("POST", `/v1/tenants/${tenant.tenant_id}/api-keys`, {
        body: { description: "d", scope: "read_only" },
      }),
    );
    const cookie = await cookieOf({ api_key: key.secret });
    const who = okOf(await withCookie("GET", "/v1/auth/whoami", cookie));
    expect(who).toMatchObject({ is_root: false, tenant_id: tenant.tenant_id, scope: "read_only" });
    expect(who.actions).toContain("instance_list");
    expect(who.actions).not.toContain("instance_create");
    expect((await withCookie("GET", "/v1/audit/events", cookie)).status).toBe(403);
  });

  test.each([
    ["a wrong password", { username: "nobody", password: "wrong" }, 401],
    ["a wrong key", { api_key: `${ROOT_KEY.slice(0, -1)}0` }, 401],
    ["a text that is not a key", { api_key: "x" }, 401],
    ["neither a password nor a key", {}, 400],
    ["both a password and a key", { username: "a", password: "b", api_key: ROOT_KEY }, 400],
  ])("with %s is refused, and the answer has no cookie", async (_what, body, status) => {
    const answer = await signIn(body);
    expect(answer.status).toBe(status);
    expect(answer.headers.get("set-cookie")).toBeNull();
  });

  test.each(["agent", "booter", "ur_enroll"] as const)("with a key of the scope %s is refused", async (scope) => {
    expect((await signIn({ api_key: (await t.mintKey(scope)).secret })).status).toBe(403);
  });

  test("from a page of another site is refused", async () => {
    const body = { api_key: ROOT_KEY };
    expect((await signIn(body, { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await signIn(body, { "sec-fetch-site": "same-site" })).status).toBe(403);
    expect((await signIn(body, { origin: "https://evil.example", host: "berth.test" })).status).toBe(403);
    expect((await signIn(body, {})).status).toBe(200);
  });
});

describe("a request with the session's cookie", () => {
  const write = (cookie: string, headers: Record<string, string>) =>
    t.call("POST", "/v1/silos", {
      key: null,
      headers: { cookie, ...headers },
      text: JSON.stringify({ name: `s-${crypto.randomUUID()}` }),
    });

  test.each([
    ["from a page of this server", SAME, 201],
    ["from another site", { "sec-fetch-site": "cross-site" }, 403],
    ["from another host of the site", { "sec-fetch-site": "same-site" }, 403],
    ["from an address that a person typed into the browser", { "sec-fetch-site": "none" }, 403],
    ["without a header that names its page", {}, 403],
    ["with this server's origin", { origin: "http://berth.test", host: "berth.test" }, 201],
    ["with another origin", { origin: "http://evil.test", host: "berth.test" }, 403],
    ["with an opaque origin", { origin: "null", host: "berth.test" }, 403],
    ["with a content type that an HTML form can send", { ...SAME, "content-type": "text/plain" }, 403],
  ])("a write %s, with the headers %j, gets %i", async (_what, headers, status) => {
    const answer = await write(await cookieOf({ api_key: ROOT_KEY }), headers);
    expect(answer.status).toBe(status);
    if (status === 403) {
      expect(answer.body.message).toBe("only pages of this server may use a session of the web console");
    }
  });

  test("a read needs no header that names the requesting page, so a link can open a download", async () => {
    expect((await withCookie("GET", "/v1/silos", await cookieOf({ api_key: ROOT_KEY }), {})).status).toBe(200);
  });
});

describe("S-10: the token of the cookie and the tokens of programs", () => {
  test("the cookie's token is refused as a bearer token, and an access token as a cookie", async () => {
    const user = await newUser();
    const login = { username: user.username, password: PASSWORD };
    const token = (await cookieOf(login)).split("=")[1] ?? "";
    expect((await t.call("GET", "/v1/auth/whoami", { key: token })).status).toBe(401);
    const { access_token, refresh_token } = okOf(await t.call("POST", "/v1/auth/login", { key: null, body: login }));
    for (const other of [access_token, refresh_token, ROOT_KEY]) {
      expect(await statusOf(`__Host-berth=${other}`)).toBe(401);
    }
    expect((await t.call("POST", "/v1/auth/refresh", { key: null, body: { refresh_token: token } })).status).toBe(401);
  });

  test("the Authorization header has precedence over the cookie", async () => {
    const cookie = await cookieOf({ api_key: ROOT_KEY });
    const user = await newUser();
    const login = { username: user.username, password: PASSWORD };
    const { access_token } = okOf(await t.call("POST", "/v1/auth/login", { key: null, body: login }));
    const who = await t.call("GET", "/v1/auth/whoami", { key: access_token, headers: { cookie } });
    expect(okOf(who).user_id).toBe(user.id);
  });
});

describe("the sign-in link of the development environment", () => {
  const newLink = async (): Promise<string> => okOf(await t.call("POST", "/lab/sign-in")).path;
  const follow = (path: string, address = "127.0.0.1") => t.call("GET", path, { key: null, address });

  test("signs in a browser on the server's machine, and works only once", async () => {
    const path = await newLink();
    const answer = await follow(path);
    expect([answer.status, answer.headers.get("location")]).toEqual([302, "/console/"]);
    expect(await statusOf((answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "")).toBe(200);
    expect((await follow(path)).status).toBe(404);
  });

  test("is refused for another machine, and can still be used after this refusal", async () => {
    const path = await newLink();
    expect((await follow(path, "192.0.2.7")).status).toBe(404);
    expect((await follow(path)).status).toBe(302);
  });

  test("does not exist outside of the development environment", async () => {
    const other = await openTestControlPlane({ databaseUrl: t.databaseUrl, env: { BERTH_LAB: "0" } });
    expect((await other.call("POST", "/lab/sign-in")).status).toBe(404);
    await other.close();
  });
});

describe("the end of a session", () => {
  test("after a sign-out, the browser deletes the cookie and the server refuses it", async () => {
    const cookie = await cookieOf({ api_key: ROOT_KEY });
    const out = await withCookie("DELETE", "/v1/console/session", cookie);
    expect([out.status, out.headers.get("set-cookie")]).toEqual([204, expect.stringContaining("Max-Age=0")]);
    const refused = await withCookie("GET", "/v1/auth/whoami", cookie);
    expect([refused.status, refused.headers.get("set-cookie")]).toEqual([401, expect.stringContaining("Max-Age=0")]);
  });

  test("a browser with the cookie of an ended session can still use an anonymous route and sign in again", async () => {
    const cookie = await cookieOf({ api_key: ROOT_KEY });
    await withCookie("DELETE", "/v1/console/session", cookie);
    expect((await withCookie("GET", "/v1/health", cookie)).status).toBe(200);
    expect((await signIn({ api_key: ROOT_KEY }, { ...SAME, cookie })).status).toBe(200);
  });

  test("S-11: a session ends when its key is deleted, or when its user is deleted or gets a new password", async () => {
    const { id, secret } = await t.mintKey("full");
    const ofKey = await cookieOf({ api_key: secret });
    okOf(await t.call("DELETE", `/v1/auth/api-keys/${id}`));
    expect(await statusOf(ofKey)).toBe(401);
    const user = await newUser();
    const login = { username: user.username, password: PASSWORD };
    const ofPassword = await cookieOf(login);
    okOf(await t.call("PUT", `/v1/system/users/${user.id}/password`, { body: { password: PASSWORD } }));
    expect(await statusOf(ofPassword)).toBe(401);
    const ofUser = await cookieOf(login);
    okOf(await t.call("DELETE", `/v1/system/users/${user.id}`));
    expect(await statusOf(ofUser)).toBe(401);
  });

  test("the limit of sessions of a tenant's key does not affect the operator who created the key", async () => {
    const tenant = await openTenant(t, "displace");
    const key = okOf(
      await t.call("POST", `/v1/tenants/${tenant.tenant_id}/api-keys`, { body: { description: "d" } }),
    );
    const operator = await cookieOf({ api_key: ROOT_KEY });
    for (let n = 0; n < 51; n++) await cookieOf({ api_key: key.secret });
    expect(await statusOf(operator)).toBe(200);
    const { rows } = await t.db.query("select count(*)::int as n from session where api_key_id = $1", [key.id]);
    expect(rows).toEqual([{ n: 50 }]);
  });

  test("a session ends after the idle time without a request", async () => {
    const cookie = await cookieOf({ api_key: ROOT_KEY });
    await t.advance(WEB_SESSION_IDLE_S_DEFAULT - 60);
    expect(await statusOf(cookie)).toBe(200);
    await expect.poll(() => used(cookie)).toBeLessThan(WEB_SESSION_TOUCH_S);
    await t.advance(WEB_SESSION_IDLE_S_DEFAULT - 60);
    expect(await statusOf(cookie)).toBe(200);
    await expect.poll(() => used(cookie)).toBeLessThan(WEB_SESSION_TOUCH_S);
    await t.advance(WEB_SESSION_IDLE_S_DEFAULT);
    expect(await statusOf(cookie)).toBe(401);
  });
});

/** Returns the seconds since the last recorded use of the session. */
async function used(cookie: string): Promise<number> {
  const claims = JSON.parse(atob((cookie.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/")));
  const { rows } = await t.db.query<{ s: string }>(
    "select extract(epoch from berth_now() - refreshed_at) as s from session where id = $1",
    [claims.sid],
  );
  return Number(rows[0]?.s);
}

describe("the check of the login session behind an open serial console", () => {
  async function opened() {
    const user = await newUser();
    const key = okOf(await t.call("POST", "/v1/auth/api-keys", { body: { description: "d", scope: "full" } }));
    const [byPassword, byKey] = [
      await cookieOf({ username: user.username, password: PASSWORD }),
      await cookieOf({ api_key: key.secret }),
    ];
    return { user, key, byPassword, byKey };
  }

  const ends: Readonly<Record<string, (of: Awaited<ReturnType<typeof opened>>) => Promise<unknown>>> = {
    "the sign-out of a session that a password opened": ({ byPassword }) =>
      withCookie("DELETE", "/v1/console/session", byPassword),
    "the sign-out of a session that a key opened": ({ byKey }) => withCookie("DELETE", "/v1/console/session", byKey),
    "the delete of the key": ({ key }) => t.call("DELETE", `/v1/auth/api-keys/${key.id}`),
    "the delete of the user": ({ user }) => t.call("DELETE", `/v1/system/users/${user.id}`),
  };

  test.each([
    ["the sign-out of a session that a password opened", "password"],
    ["the sign-out of a session that a key opened", "key"],
    ["the delete of the key", "key"],
    ["the delete of the user", "password"],
  ])("fails after %s", async (end, ended) => {
    const of = await opened();
    const { rows } = await t.db.query<{ id: string; user_id: string; api_key_id: string | null }>(
      "select id, user_id, api_key_id from session where user_id = $1 or api_key_id = $2",
      [of.user.id, of.key.id],
    );
    const referenced = createCredentialReferences({ db: t.db, identity_issuer: null });
    const found = async () => {
      const principals = await Promise.all(rows.map(async ({ id, user_id, api_key_id }) => {
        const reference = { user_id, key_id: api_key_id, login_id: id, credential_expires_at: null, is_root: false };
        return [api_key_id === null ? "password" : "key", (await referenced(reference)) !== null];
      }));
      return Object.fromEntries(principals);
    };
    expect(await found()).toEqual({ password: true, key: true });
    await ends[end]!(of);
    expect(await found()).toEqual({ password: true, key: true, [ended]: false });
  });
});
