// Tests the configuration of the identity service. An error in the configuration stops the start.
import { expect, test } from "vitest";
import { readConfig } from "../../src/config.ts";

const ISSUER = "https://id.example";

test("a site without the variables of the identity service has no identity service", () => {
  expect(readConfig({}).identity).toBeNull();
  expect(readConfig({ BERTH_IDENTITY_ISSUER: "", BERTH_IDENTITY_AUDIENCE: "" }).identity).toBeNull();
});

test("an issuer and an audience configure the identity service; the address of the issuer's keys and a client are optional", () => {
  const env = { BERTH_IDENTITY_ISSUER: ISSUER, BERTH_IDENTITY_AUDIENCE: "site" };
  expect(readConfig(env).identity).toEqual({ issuer: ISSUER, audience: "site", jwks_url: null, client: null });
  const jwks_url = "https://keys.example/jwks";
  expect(readConfig({ ...env, BERTH_IDENTITY_JWKS_URL: jwks_url }).identity?.jwks_url).toBe(jwks_url);
  const client = { BERTH_IDENTITY_CLIENT_ID: "console", BERTH_IDENTITY_CLIENT_SECRET: "secret" };
  expect(readConfig({ ...env, ...client }).identity?.client).toEqual({ id: "console", secret: "secret" });
});

test.each([
  [{ BERTH_IDENTITY_ISSUER: ISSUER }, "BERTH_IDENTITY_AUDIENCE"],
  [{ BERTH_IDENTITY_AUDIENCE: "site" }, "BERTH_IDENTITY_ISSUER"],
  [{ BERTH_IDENTITY_JWKS_URL: "https://keys.example" }, "BERTH_IDENTITY_ISSUER"],
  [{ BERTH_IDENTITY_ISSUER: "http://id.example", BERTH_IDENTITY_AUDIENCE: "site" }, "BERTH_IDENTITY_ISSUER"],
  [
    { BERTH_IDENTITY_ISSUER: ISSUER, BERTH_IDENTITY_AUDIENCE: "site", BERTH_IDENTITY_JWKS_URL: "ftp://a" },
    "BERTH_IDENTITY_JWKS_URL",
  ],
  [{ BERTH_IDENTITY_CLIENT_ID: "console" }, "BERTH_IDENTITY_CLIENT_SECRET"],
  [{ BERTH_IDENTITY_CLIENT_SECRET: "secret" }, "BERTH_IDENTITY_CLIENT_ID"],
  [{ BERTH_IDENTITY_CLIENT_ID: "console", BERTH_IDENTITY_CLIENT_SECRET: "secret" }, "BERTH_IDENTITY_ISSUER"],
  [{ BERTH_LOGIN_PER_MINUTE: "0" }, "BERTH_LOGIN_PER_MINUTE"],
])("%j stops the start and names %s", (env, name) => {
  expect(() => readConfig(env)).toThrow(name);
});
