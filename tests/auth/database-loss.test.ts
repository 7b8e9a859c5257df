// If the server cannot reach the database to check a credential, the request fails. The server never treats the caller
// as anonymous instead.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type OwnCluster, ownCluster } from "../support/cluster.ts";
import { okOf, openTestControlPlane, ROOT_KEY, type TestControlPlane } from "../support/control-plane.ts";
import { type LocalIssuer, openLocalIssuer } from "./local-issuer.ts";

let cluster: OwnCluster;
let identity: LocalIssuer;
let t: TestControlPlane;
beforeAll(async () => {
  cluster = await ownCluster({ fsync: "off" });
  identity = await openLocalIssuer(() => Promise.resolve(Date.now()));
  const env = { BERTH_IDENTITY_ISSUER: identity.issuer, BERTH_IDENTITY_AUDIENCE: "site" };
  t = await openTestControlPlane({ databaseUrl: cluster.url, env });
});
afterAll(async () => {
  await t.close();
  await identity.close();
  await cluster.remove();
});

test("without the database every kind of credential gets 503, even on anonymous routes", async () => {
  const body = { username: "user", password: "a long enough password" };
  okOf(await t.call("POST", "/v1/system/users", { body }));
  const session = okOf(await t.call("POST", "/v1/auth/login", { key: null, body }));
  const ofService = await identity.sign({ sub: "s", aud: "site" });
  const ofNobody = await identity.sign({ sub: "s", aud: "site", iss: "https://unknown.example" });
  const keys = [ROOT_KEY, session.access_token, ofService];
  for (const key of keys) expect((await t.call("GET", "/v1/auth/whoami", { key })).status).toBe(200);
  await cluster.kill("SIGQUIT");
  const asked = [...keys, ofNobody].flatMap((key) => ["/v1/auth/whoami", "/v1/health"].map((path) => ({ key, path })));
  const answers = await Promise.all(asked.map(({ key, path }) => t.call("GET", path, { key })));
  const logins = [
    await t.call("POST", "/v1/auth/login", { key: null, body }),
    await t.call("POST", "/v1/auth/refresh", { key: null, body: { refresh_token: session.refresh_token } }),
  ];
  await cluster.restart();
  for (const { status } of [...answers, ...logins]) expect(status).toBe(503);
  const again = async () => (await t.call("GET", "/v1/auth/whoami", { key: session.access_token })).status;
  await expect.poll(again, { timeout: 20_000 }).toBe(200);
});
