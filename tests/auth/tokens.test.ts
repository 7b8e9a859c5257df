// Sends invalid credentials (docs/reliability.md, S-10). Every invalid token gets the same 401, independent of its
// claims.
import { Buffer } from "node:buffer";
import { createHmac, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { derive } from "../../src/auth/seal.ts";
import { LOOPBACK_ALLOWED } from "../support/loopback.ts";
import { okOf, openTestControlPlane, ROOT_KEY, SECRET_KEY, type TestControlPlane } from "../support/control-plane.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import { type LocalIssuer, openLocalIssuer } from "./local-issuer.ts";

const PASSWORD = "a long enough password";
const AUDIENCE = "berth-site";
const REQUEST_ID = randomUUID();
const REFUSED = JSON.stringify({
  message: "the API key or token is missing, not recognized, expired or revoked",
  request_id: REQUEST_ID,
  error_code: "Unauthenticated",
});

let t: TestControlPlane;
let identity: LocalIssuer;
let ofTenant: LocalIssuer;
let tenant: TestTenant;
let session: { access_token: string; refresh_token: string };
let now_ms: () => Promise<number>;

beforeAll(async () => {
  now_ms = async () => (await t.db.query<{ now: Date }>("select berth_now() as now")).rows[0]!.now.getTime();
  identity = await openLocalIssuer(now_ms);
  ofTenant = await openLocalIssuer(now_ms);
  t = await openTestControlPlane({
    env: {
      ...LOOPBACK_ALLOWED,
      BERTH_LOGIN_PER_MINUTE: "1000000",
      BERTH_IDENTITY_ISSUER: identity.issuer,
      BERTH_IDENTITY_AUDIENCE: AUDIENCE,
    },
  });
  tenant = await openTenant(t);
  const idp = { issuer_url: ofTenant.issuer, client_id: "client", client_secret: "s", audience: AUDIENCE };
  okOf(await t.call("POST", `/v1/tenants/${tenant.tenant_id}/idp`, { body: idp }));
  okOf(await t.call("POST", "/v1/system/users", { body: { username: "user", password: PASSWORD } }));
  const body = { username: "user", password: PASSWORD };
  session = okOf(await t.call("POST", "/v1/auth/login", { key: null, body }));
});
afterAll(async () => {
  await t.close();
  await identity.close();
  await ofTenant.close();
});

const ask = (authorization: string) =>
  t.call("GET", "/v1/auth/whoami", { key: null, headers: { authorization, "x-request-id": REQUEST_ID } });
const encode = (value: unknown) =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString());
/** Derives the key of the server's own tokens in the same way as the server. */
const ownKey = () => derive(Buffer.from(SECRET_KEY, "hex"), { purpose: "session-token", id: "" }, 32);

/** Returns a token that is signed with HMAC. Objects are encoded as JSON. */
function hmac(key: Uint8Array | string, claims: unknown, header: unknown = { alg: "HS256", typ: "JWT" }): string {
  const signed = `${encode(header)}.${encode(claims)}`;
  return `${signed}.${createHmac("sha256", key).update(signed).digest("base64url")}`;
}

async function expectRefused(tokens: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, token] of Object.entries(tokens)) {
    const answer = await ask(`Bearer ${token}`);
    expect([name, answer.status, answer.text]).toEqual([name, 401, REFUSED]);
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
  }
}

test("valid tokens are accepted, so the other tests' tokens are refused only because of their defects", async () => {
  const own = claimsOf(session.access_token);
  const good = [session.access_token, hmac(ownKey(), own), await identity.sign({ sub: "s", aud: AUDIENCE })];
  for (const algorithm of ["RS256", "ES256", "EdDSA"] as const) {
    good.push(await ofTenant.sign({ sub: "s", aud: AUDIENCE }, { algorithm }));
  }
  for (const token of good) expect((await ask(`Bearer ${token}`)).status).toBe(200);
});

test("S-10: a credential is exactly `Bearer`, one space and the token", async () => {
  const token = session.access_token;
  for (
    const header of [
      token,
      `bearer ${token}`,
      `BEARER ${token}`,
      `Bearer  ${token}`,
      `Bearer\t${token}`,
      `Basic ${btoa(`user:${PASSWORD}`)}`,
      `Bearer ${token},`,
      `Bearer ${token} x`,
      `Bearer ${token}, Bearer ${token}`,
      `Bearer "${token}"`,
      "Bearer",
    ]
  ) {
    expect([header, (await ask(header)).text]).toEqual([header, REFUSED]);
  }
  const cookie = { cookie: `access_token=${token}; authorization=Bearer ${token}` };
  expect((await t.call("GET", "/v1/auth/whoami", { key: null, headers: cookie })).status).toBe(401);
  expect((await t.call("GET", `/v1/auth/whoami?access_token=${token}`, { key: null })).status).toBe(401);
});

describe("S-10: tokens of sessions", () => {
  test("are refused with a changed byte, a missing part or an additional part", async () => {
    const [head = "", body = "", sign = ""] = session.access_token.split(".");
    const other = sign.startsWith("A") ? "B" : "A";
    await expectRefused({
      signature: `${head}.${body}.${other}${sign.slice(1)}`,
      short: `${head}.${body}.${sign.slice(0, -2)}`,
      unsigned: `${head}.${body}.`,
      two: `${head}.${body}`,
      four: `${session.access_token}.${sign}`,
      claims: `${head}.${encode({ ...claimsOf(session.access_token), sub: randomUUID() })}.${sign}`,
      padded: `${session.access_token}=`,
      long: `${head}.${body}.${"A".repeat(20_000)}`,
      refresh: session.refresh_token,
    });
  });

  test("are refused with an algorithm other than HS256 or with another key", async () => {
    const claims = claimsOf(session.access_token);
    const none = `${encode({ alg: "none" })}.${encode(claims)}`;
    await expectRefused({
      none: `${none}.`,
      "none with a signature": `${none}.${session.access_token.split(".")[2]}`,
      "None": `${encode({ alg: "None" })}.${encode(claims)}.`,
      hs512: hmac(ownKey(), claims, { alg: "HS512" }),
      "no algorithm": hmac(ownKey(), claims, {}),
      "the empty key": hmac("", claims),
      "the secret itself": hmac(Buffer.from(SECRET_KEY, "hex"), claims),
      "the root operator's API key": hmac(ROOT_KEY, claims),
      critical: hmac(ownKey(), claims, { alg: "HS256", crit: ["exp"], exp: 1 }),
      unencoded: hmac(ownKey(), claims, { alg: "HS256", crit: ["b64"], b64: false }),
    });
  });

  test("are refused with claims that the server would not issue, although the signature is valid", async () => {
    const claims = claimsOf(session.access_token);
    const signed = (change: object) => hmac(ownKey(), { ...claims, ...change });
    const { exp: _exp, ...endless } = claims;
    await expectRefused({
      "a text as exp": signed({ exp: String(claims.exp) }),
      "an infinite exp": hmac(ownKey(), JSON.stringify(claims).replace(/"exp":\d+/, '"exp":1e400')),
      "no exp": hmac(ownKey(), endless),
      "null exp": signed({ exp: null }),
      "an exp in the past": signed({ exp: claims.iat - 1 }),
      "an unknown session": signed({ sid: randomUUID() }),
      "another user": signed({ sub: okOf(await t.call("GET", "/v1/auth/whoami")).user_id }),
      "no type": signed({ typ: undefined }),
      "another type": signed({ typ: "id" }),
      "an additional claim": signed({ is_root: true }),
      "an issuer": signed({ iss: identity.issuer }),
      "the issuer of a tenant": signed({ iss: ofTenant.issuer }),
      "an unknown issuer": signed({ iss: "https://nobody.invalid" }),
      "an issuer with a NUL": signed({ iss: "\0" }),
      "an issuer with half a surrogate pair": hmac(ownKey(), '{"iss":"\\ud800"}'),
      "an array": hmac(ownKey(), [claims]),
      "no JSON": hmac(ownKey(), "{"),
    });
  });
});

describe.each(["the identity service", "the issuer of a tenant"])("S-10: tokens of %s", (which) => {
  const issuer = () => (which === "the identity service" ? identity : ofTenant);
  const sign = (claims: object, how = {}) => issuer().sign({ sub: "s", aud: AUDIENCE, ...claims }, how);

  test("are refused with another audience, another issuer, or an invalid subject", async () => {
    const other = issuer() === identity ? ofTenant : identity;
    await expectRefused({
      "another audience": await sign({ aud: "another" }),
      "no audience": await sign({ aud: undefined }),
      "audiences with one character too many or too few": await sign({ aud: [`${AUDIENCE}2`, AUDIENCE.slice(0, -1)] }),
      "no subject": await sign({ sub: undefined }),
      "an empty subject": await sign({ sub: "" }),
      "a long subject": await sign({ sub: "s".repeat(256) }),
      "a subject with a line end": await sign({ sub: "s\nroot" }),
      "a subject that is not ASCII": await sign({ sub: "ｒoot" }),
      "a number as subject": await sign({ sub: 7 }),
      "the other issuer's name": await sign({ iss: other.issuer }),
      "its own name with a slash": await sign({ iss: `${issuer().issuer}/` }),
    });
  });

  test("are refused if they are expired or not valid yet, or if their times are not numbers", async () => {
    const now_s = Math.floor(await now_ms() / 1_000);
    await expectRefused({
      expired: await sign({ exp: now_s }),
      "a text as exp": await sign({ exp: String(now_s + 60) }),
      "no exp": await sign({ exp: undefined }),
      "not yet": await sign({ nbf: now_s + 3_600 }),
      "a text as nbf": await sign({ nbf: "0" }),
    });
    expect((await ask(`Bearer ${await sign({ nbf: now_s + 5 })}`)).status).toBe(200);
  });

  test("are refused without a signature, with another key, or with the public key as an HMAC secret", async () => {
    const token = await sign({});
    const [head = "", body = "", signature = ""] = token.split(".");
    const claims = claimsOf(token);
    const jwk = issuer().jwk("RS256");
    const other = issuer() === identity ? ofTenant : identity;
    const foreign = await other.sign({ ...claims, iss: issuer().issuer });
    await expectRefused({
      none: `${encode({ alg: "none" })}.${body}.`,
      unsigned: `${head}.${body}.`,
      changed: `${head}.${encode({ ...claims, sub: "root" })}.${signature}`,
      "the public key as a secret": hmac(JSON.stringify(jwk), claims, { alg: "HS256", kid: jwk.kid }),
      "its modulus as a secret": hmac(Buffer.from(jwk.n!, "base64url"), claims, { alg: "HS256", kid: jwk.kid }),
      "the server's own key": hmac(ownKey(), claims),
      "another issuer's key": foreign,
      "another algorithm than the key's": `${encode({ alg: "ES256", kid: jwk.kid })}.${body}.${signature}`,
      "an unknown key": await sign({}, { kid: "unknown" }),
    });
  });
});

test("only RS256 is accepted from the identity service", async () => {
  for (const algorithm of ["ES256", "EdDSA"] as const) {
    const token = await identity.sign({ sub: "s", aud: AUDIENCE }, { algorithm });
    expect((await ask(`Bearer ${token}`)).text).toBe(REFUSED);
  }
});

test("a token that is bound to a key or certificate is not accepted as a bearer token", async () => {
  await expectRefused({
    tenant: await ofTenant.sign({ sub: "s", aud: AUDIENCE, cnf: { jkt: "x" } }),
    identity: await identity.sign({ sub: "s", aud: AUDIENCE, cnf: { jkt: "x" } }),
    "a text": await identity.sign({ sub: "s", aud: AUDIENCE, cnf: randomUUID() }),
    "an unknown node": await identity.sign({ sub: "s", aud: AUDIENCE, cnf: { server_uuid: randomUUID() } }),
  });
});

test("an invalid token is refused on anonymous routes, too", async () => {
  const answer = await t.call("GET", "/v1/health", { key: "a.b.c", headers: { "x-request-id": REQUEST_ID } });
  expect(answer.text).toBe(REFUSED);
});
