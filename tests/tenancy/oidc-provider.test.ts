// Tests tokens of a tenant's real issuer: a certified OpenID provider with its own discovery, keys and grants.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";
import { afterAll, beforeAll, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { LOOPBACK_ALLOWED } from "../support/loopback.ts";
import { openTenant, type TestTenant } from "./tenant.ts";

const RESOURCE = "https://berth.example/api";
const CLIENT = { client_id: "deployer", client_secret: "a secret of the client" };

let t: TestControlPlane;
let tenant: TestTenant;
let server: Server;
let issuer: string;

beforeAll(async () => {
  server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [{ ...CLIENT, grant_types: ["client_credentials"], redirect_uris: [], response_types: [] }],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => RESOURCE,
        getResourceServerInfo: () => ({
          scope: "",
          audience: RESOURCE,
          accessTokenTTL: 600,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
  });
  server.on("request", provider.callback());
  t = await openTestControlPlane({ env: LOOPBACK_ALLOWED });
  tenant = await openTenant(t);
});
afterAll(async () => {
  await t.close();
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

async function tokenOf(): Promise<string> {
  const discovered = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
  const answer = await fetch(discovered.token_endpoint, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`${CLIENT.client_id}:${encodeURIComponent(CLIENT.client_secret)}`)}` },
    body: new URLSearchParams({ grant_type: "client_credentials", resource: RESOURCE }),
  });
  return (await answer.json()).access_token;
}

test("users of a real issuer act in the tenant until the tenant's issuer is removed", async () => {
  const path = `/v1/tenants/${tenant.tenant_id}/idp`;
  const key = await tokenOf();
  expect((await t.call("GET", "/v1/auth/whoami", { key })).status).toBe(401);
  okOf(await t.call("POST", path, { body: { issuer_url: issuer, ...CLIENT, audience: RESOURCE } }));
  expect((await t.call("GET", "/v1/auth/whoami", { key })).body).toMatchObject({
    username: `deployer@${issuer}`,
    tenant_id: tenant.tenant_id,
    is_root: false,
    scope: "full",
  });
  const made = await t.call("POST", `/v1/tenants/${tenant.tenant_id}/projects`, {
    key,
    body: { name: "from-outside" },
  });
  expect(made.status).toBe(201);
  okOf(await t.call("DELETE", path));
  expect((await t.call("GET", "/v1/auth/whoami", { key })).status).toBe(401);
});
