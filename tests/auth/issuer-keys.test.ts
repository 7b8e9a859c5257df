// Tests how the server finds and caches the keys of an issuer, and when the server reads the keys again.
import { afterEach, beforeEach, expect, test } from "vitest";
import { createIssuerKeys } from "../../src/auth/issuer.ts";
import { IssuerUnavailable } from "../../src/auth/issuer-document.ts";
import { fetchDocumentHere } from "../../src/outbound/document.ts";
import { ISSUER_BYTES_MAX, ISSUER_PAUSE_S, JWKS_CACHE_S, JWKS_COOLDOWN_S } from "../../src/contract/limits.ts";
import { type LocalIssuer, openLocalIssuer } from "./local-issuer.ts";

let issuer: LocalIssuer;
let clock_s = 0;
let keys: ReturnType<typeof createIssuerKeys>;

beforeEach(async () => {
  clock_s = 0;
  const web = { fetch: fetchDocumentHere, allowedPrivate: () => Promise.resolve(["127.0.0.0/8"]), identity: null };
  keys = createIssuerKeys(web, () => clock_s * 1_000);
  issuer = await openLocalIssuer(() => Promise.resolve(0));
});
afterEach(() => issuer.close());

const verify = (token: string) => keys.verify(token, { issuer: issuer.issuer, jwks_url: null }, ["RS256"]);

test("the server reads the keys once for many tokens, even for concurrent tokens, and again when the cache expires", async () => {
  const token = await issuer.sign({ sub: "s" });
  expect(await Promise.all([verify(token), verify(token), verify(token)])).toEqual(
    Array(3).fill(expect.objectContaining({ sub: "s" })),
  );
  clock_s = JWKS_CACHE_S - 1;
  await verify(token);
  expect(issuer.keyReads()).toBe(1);
  clock_s = JWKS_CACHE_S;
  await verify(token);
  expect(issuer.keyReads()).toBe(2);
});

test("if the cached keys have expired, concurrent tokens cause one read; a read after a failed read waits for a pause", async () => {
  const token = await issuer.sign({ sub: "s" });
  await verify(token);
  clock_s = 2 * JWKS_CACHE_S + 1;
  await Promise.all([verify(token), verify(token)]);
  expect(issuer.keyReads()).toBe(2);
  clock_s += 2 * JWKS_CACHE_S + 1;
  issuer.behave({ status: 500 });
  await expect(verify(token)).rejects.toThrow(IssuerUnavailable);
  issuer.behave({});
  // When the cache reads the keys of another issuer, it drops old entries, but not the entry of the failed read.
  const other = { issuer: issuer.issuer, jwks_url: issuer.jwks_url };
  expect(await keys.verify(token, other, ["RS256"])).toMatchObject({ sub: "s" });
  await expect(verify(token)).rejects.toThrow(/failed less than \d+ s ago/);
  clock_s += ISSUER_PAUSE_S;
  expect(await verify(token)).toMatchObject({ sub: "s" });
});

test("a token with an unknown key id makes the server read the keys again, but at most once in each cooldown", async () => {
  await verify(await issuer.sign({ sub: "s" }));
  await issuer.rotate();
  const token = await issuer.sign({ sub: "s" });
  clock_s = JWKS_COOLDOWN_S - 1;
  expect(await verify(token)).toBeNull();
  expect(issuer.keyReads()).toBe(1);
  clock_s = JWKS_COOLDOWN_S;
  expect(await verify(token)).toMatchObject({ sub: "s" });
  expect(await verify(await issuer.sign({ sub: "s" }, { kid: "unknown" }))).toBeNull();
  expect(issuer.keyReads()).toBe(2);
});

test("if the address of the keys is configured, the server reads the keys there without discovery", async () => {
  issuer.behave({ discovery: "nothing" });
  const token = await issuer.sign({ sub: "s" });
  const named = { issuer: issuer.issuer, jwks_url: issuer.jwks_url };
  expect(await keys.verify(token, named, ["RS256"])).toMatchObject({ sub: "s" });
});

test.each([
  ["an error status", () => ({ status: 500 })],
  ["a redirect", () => ({ status: 302 })],
  [
    "the discovery document of another issuer",
    () => ({ discovery: { issuer: "https://a.invalid", jwks_uri: issuer.jwks_url } }),
  ],
  ["a discovery document without jwks_uri", () => ({ discovery: { issuer: issuer.issuer } })],
  ["a jwks_uri with the scheme http", () => ({
    discovery: { issuer: issuer.issuer, jwks_uri: "http://192.0.2.1/keys" },
  })],
  ["keys that are not a list", () => ({ keys: { keys: "none" } })],
  ["more bytes than allowed", () => ({ keys: { keys: [], filler: "x".repeat(ISSUER_BYTES_MAX) } })],
])("an issuer that answers with %s is unavailable, and gets no further request during a pause", async (_name, how) => {
  const token = await issuer.sign({ sub: "s" });
  issuer.behave(how());
  await expect(verify(token)).rejects.toThrow(IssuerUnavailable);
  issuer.behave({});
  await expect(verify(token)).rejects.toThrow(IssuerUnavailable);
  clock_s = ISSUER_PAUSE_S;
  expect(await verify(token)).toMatchObject({ sub: "s" });
});

test("an issuer that does not answer is unavailable", async () => {
  const token = await issuer.sign({ sub: "s" });
  await issuer.close();
  await expect(verify(token)).rejects.toThrow(IssuerUnavailable);
  issuer = await openLocalIssuer(() => Promise.resolve(0));
});

test("an issuer that publishes a key that is too short is unavailable", async () => {
  issuer.behave({ keys: { keys: [{ ...issuer.jwk("RS256"), n: "AQAB" }] } });
  const token = await issuer.sign({ sub: "s" });
  await expect(verify(token)).rejects.toThrow(IssuerUnavailable);
});
