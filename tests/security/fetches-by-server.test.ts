// Tests the fetches that the server makes for tenants: discovery documents and keys of their issuers, with the
// processes and permissions of `task start`. docs/reliability.md S-25 and S-47.
import type { RequestListener } from "node:http";
import { randomUUID } from "node:crypto";
import process from "node:process";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, okOf } from "../support/control-plane.ts";
import { openTenant } from "../tenancy/tenant.ts";
import { type FetchFixture, openFetchFixture, REDIRECT_CODES } from "./fetch-fixture.ts";
import { ALLOWED_HOST, ALLOWED_RANGE, type AllowedServer, openAllowedServer } from "./fetch-target.ts";
import { descendants } from "./process-view.ts";
import { spellings } from "./special-addresses.ts";

const AUDIENCE = "client";
const RULE =
  "issuer_url: must have a public address, or an address in a network that the setting fetch.allowed_private lists";
let fixture: FetchFixture;
let keys: Awaited<ReturnType<typeof generateKeyPair>>;
const open: AllowedServer[] = [];

beforeAll(async () => {
  [fixture, keys] = await Promise.all([openFetchFixture({ as_task: true }), generateKeyPair("RS256")]);
}, 180_000);

afterAll(async () => {
  await Promise.all(open.map((each) => each.close()));
  await fixture?.close();
});

async function serve(answer: (issuer: () => string) => RequestListener): Promise<string> {
  let url = "";
  const made = await openAllowedServer(answer(() => url));
  open.push(made);
  return url = made.url;
}

const setIdp = (tenant_id: string, issuer_url: string) =>
  fixture.call("POST", `/v1/tenants/${tenant_id}/idp`, {
    body: { issuer_url, client_id: AUDIENCE, client_secret: "hush" },
  });

/** Calls the API with a token of the issuer. */
async function presented(issuer: string): Promise<Answer> {
  const token = await new SignJWT({ iss: issuer, sub: randomUUID(), aud: AUDIENCE })
    .setProtectedHeader({ alg: "RS256", kid: "one" }).setExpirationTime("1h").sign(keys.privateKey);
  return await fixture.call("GET", "/v1/auth/whoami", { key: token });
}

/** Sets an issuer while the setting allows its address. Afterwards the setting no longer allows the address. */
async function setWhileAllowed(issuer: string): Promise<void> {
  const { tenant_id } = await openTenant(fixture);
  await fixture.allow(["0.0.0.0/0", "::/0"]);
  okOf(await setIdp(tenant_id, issuer));
  await fixture.allow([ALLOWED_RANGE]);
}

const keySet = async () => ({ keys: [{ ...await exportJWK(keys.publicKey), kid: "one", alg: "RS256" }] });

test("S-47: an issuer may not have a private address, in any spelling", async () => {
  const { tenant_id } = await openTenant(fixture);
  const urls = [...spellings("127.0.0.1"), ...spellings("10.0.0.1"), ...spellings("169.254.169.254")]
    .map((url) => url.replace(/^http:/, "https:")).filter((url) => /^[!-~]+$/.test(url));
  for (const url of [...urls, "https://localhost", "http://localhost", "http://127.0.0.1:1", "https://[::1]"]) {
    const { status, body } = await setIdp(tenant_id, url);
    expect([url, status, body.message]).toEqual([url, 400, RULE]);
  }
  expect((await fixture.call("GET", `/v1/tenants/${tenant_id}/idp`)).status).toBe(404);
});

test("tokens of an issuer in an allowed network are valid; the fetcher process fetches the issuer's keys", async () => {
  const issuer = await serve((url) => async (request, response) => {
    const document = request.url === "/keys" ? await keySet() : { issuer: url(), jwks_uri: `${url()}/keys` };
    response.setHeader("content-type", "application/json").end(JSON.stringify(document));
  });
  await setWhileAllowed(issuer);
  expect((await presented(issuer)).status).toBe(200);
});

test("S-25, S-47: neither an issuer nor its jwks_uri is fetched from a private address", async () => {
  const inside = spellings("127.0.0.1", fixture.target.port, "/keys");
  const ipv6 = [`http://[::1]:${fixture.target.port}`, `https://[::ffff:127.0.0.1]:${fixture.target.port}`];
  const issuers = [`http://127.0.0.1:${fixture.target.port}`, `http://localhost:${fixture.target.port}`, ...ipv6];
  // These issuers are on loopback. So their jwks_uri may be http on a loopback address, or https on any address.
  const named = [
    ...inside,
    ...inside.map((url) => url.replace("http:", "https:")),
    `https://localhost:${fixture.target.port}/keys`,
  ];
  for (const jwks_uri of named) {
    issuers.push(
      await serve((url) => (_request, response) => void response.end(JSON.stringify({ issuer: url(), jwks_uri }))),
    );
  }
  for (const code of REDIRECT_CODES) {
    issuers.push(
      await serve(() => (_request, response) => void response.writeHead(code, { location: inside[0]! }).end()),
    );
  }
  const texts = new Set<string>();
  for (const issuer of issuers) {
    await setWhileAllowed(issuer);
    const { status, body } = await presented(issuer);
    texts.add(`${status} ${body.message}`);
  }
  const silent = `http://${ALLOWED_HOST}:9`;
  await setWhileAllowed(silent);
  const { status, body } = await presented(silent);
  texts.add(`${status} ${body.message}`);
  expect([...texts]).toEqual(["503 Service Unavailable"]);
  expect(fixture.target.connections()).toBe(0);
}, 300_000);

test("the fetcher process is restarted after it was killed", async () => {
  const issuer = await serve((url) => async (request, response) => {
    const document = request.url === "/keys" ? await keySet() : { issuer: url(), jwks_uri: `${url()}/keys` };
    response.setHeader("content-type", "application/json").end(JSON.stringify(document));
  });
  await setWhileAllowed(issuer);
  process.kill(
    descendants(fixture.server.pid).find(({ argv }) => argv.includes("src/outbound/process.ts"))!.pid,
    "SIGKILL",
  );
  await expect.poll(async () => (await presented(issuer)).status, { timeout: 60_000, interval: 500 }).toBe(200);
}, 90_000);

test("the fetcher process refuses a request without its secret", async () => {
  const serving = descendants(fixture.server.pid).find(({ argv }) => argv.includes("src/serve.ts"))!;
  const port = /--allow-net=[^\0]*:(\d+)\0/.exec(serving.argv)![1];
  const body = JSON.stringify({
    url: "http://127.0.0.1/",
    allowed: ["0.0.0.0/0"],
    named: [],
    bytes_max: 9,
    total_ms: 9,
  });
  for (const authorization of ["", "Bearer ", "Bearer x", `Bearer ${"x".repeat(43)}`]) {
    const asked = fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers: { authorization }, body });
    await expect(asked).rejects.toThrow();
  }
});
