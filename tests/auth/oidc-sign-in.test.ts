// Users sign in to the web console at a real OpenID provider over HTTP. The tests check the redirects, the cookies, and
// the sign-ins that the server refuses (docs/web-console.md, "Sign-in with an identity provider").
import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { LOOPBACK_ALLOWED } from "../support/loopback.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import { CLIENT, openProvider, type ProviderSite, signInAt } from "./oidc-provider-site.ts";

const HOST = "console.example";
const CALLBACK = `https://${HOST}/v1/auth/oidc/callback`;
/** A user has 10 minutes for a sign-in. */
const TOO_LATE_S = 601;

let provider: ProviderSite;
let service: ProviderSite;
let t: TestControlPlane;
let tenant: TestTenant;

beforeAll(async () => {
  provider = await openProvider(CALLBACK);
  service = await openProvider(CALLBACK, {
    claims: { realm_scope: "system", scope: "read_only" },
    method: "client_secret_post",
  });
  const env = {
    ...LOOPBACK_ALLOWED,
    BERTH_IDENTITY_ISSUER: service.issuer,
    BERTH_IDENTITY_AUDIENCE: "berth-api",
    BERTH_IDENTITY_CLIENT_ID: CLIENT.client_id,
    BERTH_IDENTITY_CLIENT_SECRET: CLIENT.client_secret,
  };
  t = await openTestControlPlane({ env });
  tenant = await openTenant(t);
  okOf(await t.call("POST", idpPath(), { body: { issuer_url: provider.issuer, ...CLIENT } }));
});
afterAll(async () => {
  await t?.close();
  await provider?.close();
  await service?.close();
});

const idpPath = () => `/v1/tenants/${tenant.tenant_id}/idp`;
const browse = (path: string, cookie = "") =>
  t.call("GET", path, { key: null, headers: { host: HOST, ...(cookie !== "" && { cookie }) } });
const cookiesOf = (answer: Answer) =>
  new Map(answer.headers.getSetCookie().map((each) => [each.split("=", 1)[0] ?? "", each]));
const location = (answer: Answer) => answer.headers.get("location") ?? "";
const pair = (text = "") => text.split(";", 1)[0] ?? "";

/** Begins a sign-in. Returns the address at the issuer, and the cookie without and with its attributes. */
async function begin(query: string): Promise<{ readonly at: string; readonly cookie: string; readonly whole: string }> {
  const answer = await browse(`/v1/auth/oidc/start${query}`);
  expect([answer.status, answer.headers.get("cache-control")]).toEqual([302, "no-store"]);
  const whole = cookiesOf(answer).get("__Host-berth-oidc") ?? "";
  return { at: location(answer), cookie: pair(whole), whole };
}

/** Completes a sign-in: requests the address to which the issuer sent the browser. */
async function finish(address: string, cookie: string): Promise<Answer> {
  expect(address.startsWith(CALLBACK)).toBe(true);
  return await browse(address.slice(`https://${HOST}`.length), cookie);
}

const ofTenant = (suffix = "") => begin(`?tenant=${tenant.tenant_id}${suffix}`);

describe("a user of a tenant", () => {
  test("signs in at the tenant's issuer and returns to the page where the sign-in began", async () => {
    const { at, cookie, whole } = await ofTenant("&return=/console/t/web/p/shop/%3Ftab=disks");
    const asked = new URL(at);
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      response_type: "code",
      client_id: CLIENT.client_id,
      redirect_uri: CALLBACK,
      scope: "openid",
      code_challenge_method: "S256",
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(whole).toMatch(/Max-Age=600; Path=\/; Secure; HttpOnly; SameSite=Lax$/);
    // The cookie is sealed: it shows neither the state nor the verifier.
    expect(Buffer.from(cookie, "base64url").toString("latin1")).not.toContain(asked.searchParams.get("state"));

    const ended = await finish(await signInAt(provider, at, "alice"), cookie);
    expect([ended.status, location(ended)]).toEqual([302, "/console/t/web/p/shop/?tab=disks"]);
    const cookies = cookiesOf(ended);
    expect(cookies.get("__Host-berth-oidc")).toMatch(/^__Host-berth-oidc=; Max-Age=0;/);
    expect(cookies.get("__Host-berth")).toMatch(/Secure; HttpOnly; SameSite=Strict$/);
    const who = okOf(await browse("/v1/auth/whoami", pair(cookies.get("__Host-berth"))));
    expect(who).toMatchObject({
      username: `alice@${provider.issuer}`,
      tenant_id: tenant.tenant_id,
      is_root: false,
      // The session has all rights of the user.
      scope: null,
    });
  });

  describe("S-11", () => {
    /** Gives a new tenant an issuer, where a user signs in. */
    async function signedIn(name: string) {
      const other = await openProvider(CALLBACK);
      const { tenant_id } = await openTenant(t, name);
      const path = `/v1/tenants/${tenant_id}/idp`;
      const set = async (changed: object = {}) =>
        okOf(await t.call("POST", path, { body: { issuer_url: other.issuer, ...CLIENT, ...changed } }));
      const signIn = async () => {
        const { at, cookie } = await begin(`?tenant=${tenant_id}`);
        const ended = await finish(await signInAt(other, at, "bob"), cookie);
        const session = pair(cookiesOf(ended).get("__Host-berth"));
        const ask = (route: string) => browse(route, session);
        return { whoami: async () => (await ask("/v1/auth/whoami")).status, sessions: () => ask("/v1/auth/sessions") };
      };
      await set();
      const session = await signIn();
      expect(await session.whoami()).toBe(200);
      return { path, set, signIn, session, close: other.close };
    }

    test("loses the session when the tenant's issuer is removed, even if the issuer is set again", async () => {
      const { path, set, signIn, session, close } = await signedIn("other");
      okOf(await t.call("DELETE", path));
      expect(await session.whoami()).toBe(401);
      await set();
      expect(await session.whoami()).toBe(401);
      const next = await signIn();
      expect(await next.whoami()).toBe(200);
      expect(okOf(await next.sessions())).toMatchObject([{ is_current: true }]);
      await close();
    });

    test("loses the session when another issuer replaces the tenant's issuer, even if the first issuer is set again", async () => {
      const { set, session, close } = await signedIn("replaced");
      await set({ issuer_url: "https://other.example" });
      expect(await session.whoami()).toBe(401);
      await set();
      expect(await session.whoami()).toBe(401);
      await close();
    });

    test("keeps the session when the client's secret is replaced", async () => {
      const { set, session, close } = await signedIn("rotated");
      await set({ client_secret: "another secret" });
      expect(await session.whoami()).toBe(200);
      await close();
    });
  });
});

test("an operator signs in at the identity service and gets the rights that the token's claims state", async () => {
  expect(okOf(await t.call("GET", "/", { key: null })).identity_service).toBe(true);
  const { at, cookie } = await begin("");
  const ended = await finish(await signInAt(service, at, "carol"), cookie);
  expect([ended.status, location(ended)]).toEqual([302, "/console/"]);
  const session = pair(cookiesOf(ended).get("__Host-berth"));
  expect(okOf(await browse("/v1/auth/whoami", session))).toMatchObject({
    username: `carol@${service.issuer}`,
    tenant_id: null,
    is_root: true,
    scope: "read_only",
  });
  const headers = { host: HOST, cookie: session, "sec-fetch-site": "same-origin" };
  expect((await t.call("POST", "/v1/silos", { key: null, headers, body: { name: "made" } })).status).toBe(403);
});

describe("a sign-in is refused, and no session is opened:", () => {
  const expectRefused = (answer: Answer, why: string) => {
    expect([answer.status, location(answer)]).toEqual([302, `/console/?sign_in=${why}`]);
    expect(cookiesOf(answer).has("__Host-berth")).toBe(false);
  };

  test("without the cookie, with the cookie of another sign-in, or with a changed cookie", async () => {
    const { at, cookie } = await ofTenant();
    const address = await signInAt(provider, at, "alice");
    expectRefused(await finish(address, ""), "expired");
    expectRefused(await finish(address, (await ofTenant()).cookie), "expired");
    const last = cookie.at(-5) === "A" ? "B" : "A";
    expectRefused(await finish(address, cookie.slice(0, -5) + last + cookie.slice(-4)), "expired");
    // The code is still valid, because the refused requests did not send it to the issuer.
    expect(location(await finish(address, cookie))).toBe("/console/");
  });

  test("with a code that was used before", async () => {
    const { at, cookie } = await ofTenant();
    const address = await signInAt(provider, at, "alice");
    expect(location(await finish(address, cookie))).toBe("/console/");
    expectRefused(await finish(address, cookie), "refused");
  });

  test("with the code of another sign-in, whose verifier and nonce differ", async () => {
    const [one, two] = [await ofTenant(), await ofTenant()];
    const code = new URL(await signInAt(provider, one.at, "mallory")).searchParams.get("code") ?? "";
    const address = new URL(await signInAt(provider, two.at, "alice"));
    address.searchParams.set("code", code);
    expectRefused(await finish(address.href, two.cookie), "refused");
  });

  test("with the iss of another issuer, or without iss (RFC 9207)", async () => {
    const { at, cookie } = await ofTenant();
    const address = new URL(await signInAt(provider, at, "alice"));
    address.searchParams.set("iss", service.issuer);
    expectRefused(await finish(address.href, cookie), "refused");
    address.searchParams.delete("iss");
    expectRefused(await finish(address.href, cookie), "refused");
  });

  test("when the issuer returns access_denied, because the user did not consent", async () => {
    const { at, cookie } = await ofTenant();
    const state = new URL(at).searchParams.get("state");
    expectRefused(await finish(`${CALLBACK}?error=access_denied&state=${state}`, cookie), "denied");
  });

  test("for a tenant that does not exist or has no issuer", async () => {
    const { tenant_id } = await openTenant(t, "bare");
    for (const id of [tenant_id, crypto.randomUUID()]) {
      expectRefused(await browse(`/v1/auth/oidc/start?tenant=${id}`), "unknown");
    }
  });

  test("when the issuer does not accept the client's secret or does not answer", async () => {
    const other = await openProvider(CALLBACK);
    const { tenant_id } = await openTenant(t, "wrong");
    const body = { issuer_url: other.issuer, client_id: CLIENT.client_id, client_secret: "not the secret" };
    okOf(await t.call("POST", `/v1/tenants/${tenant_id}/idp`, { body }));
    const { at, cookie } = await begin(`?tenant=${tenant_id}`);
    const address = await signInAt(other, at, "alice");
    expectRefused(await finish(address, cookie), "unavailable");
    await other.close();
    expectRefused(await browse(`/v1/auth/oidc/start?tenant=${tenant_id}`), "unavailable");
  });

  test.each([
    "//evil.example/",
    "https://evil.example/console/",
    "/v1/audit",
    "/console/../v1/audit",
    "/console/\\evil",
  ])(
    "with the return path %s",
    async (path) => {
      const answer = await browse(`/v1/auth/oidc/start?return=${encodeURIComponent(path)}`);
      expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining("return:")]);
    },
  );

  test("after ten minutes", async () => {
    const { at, cookie } = await ofTenant();
    const address = await signInAt(provider, at, "alice");
    okOf(await t.call("POST", "/lab/clock", { body: { seconds: TOO_LATE_S } }));
    expectRefused(await finish(address, cookie), "expired");
  });
});

test("the server refuses the console's ID token as a bearer token of the identity service", async () => {
  const verifier = randomBytes(32).toString("base64url");
  const own = new URL((await begin("")).at);
  own.searchParams.set("code_challenge", createHash("sha256").update(verifier).digest("base64url"));
  const code = new URL(await signInAt(service, own.href, "carol")).searchParams.get("code") ?? "";
  const form = { grant_type: "authorization_code", code, redirect_uri: CALLBACK, code_verifier: verifier, ...CLIENT };
  const answer = await fetch(`${service.issuer}/token`, { method: "POST", body: new URLSearchParams(form) });
  const { id_token }: { id_token: string } = await answer.json();
  expect(id_token.split(".")).toHaveLength(3);
  expect((await t.call("GET", "/v1/auth/whoami", { key: id_token })).status).toBe(401);
});
