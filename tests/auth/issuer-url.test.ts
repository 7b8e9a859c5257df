// Tests which URLs of issuers and of their keys are allowed (docs/reliability.md, S-25; OpenID Connect Discovery, 3).
import { expect, test } from "vitest";
import { isIssuerUrl, mayFollow } from "../../src/auth/issuer-url.ts";

test.each([
  ["https://id.example", true],
  ["https://id.example/tenant/1", true],
  ["http://localhost:8080", true],
  ["http://127.0.0.1", true],
  ["http://[::1]:80", true],
  ["http://id.example", false],
  ["http://127.0.0.1.example", false],
  ["http://localhost.example", false],
  ["https://user@id.example", false],
  ["https://user:secret@id.example", false],
  ["https://id.example?x=1", false],
  ["https://id.example#x", false],
  ["https://id.example ", false],
  ["https://id.example/é", false],
  ["https://id.example/\u00a0", false],
  ["https://\u00efd.example", false],
  ["ftp://id.example", false],
  ["file:///etc/passwd", false],
  ["id.example", false],
  ["", false],
])("S-25: isIssuerUrl(%j) is %j", (url, good) => {
  expect(isIssuerUrl(url)).toBe(good);
});

test("S-25: isIssuerUrl accepts at most 2,048 characters", () => {
  const longest = "https://id.example/".padEnd(2_048, "x");
  expect([isIssuerUrl(longest), isIssuerUrl(`${longest}x`)]).toEqual([true, false]);
});

test.each([
  ["https://id.example", "https://keys.example/jwks", true],
  ["http://127.0.0.1:1", "http://127.0.0.1:1/jwks", true],
  ["https://localhost:1", "https://localhost:1/jwks", true],
  ["https://id.example", "http://id.example/jwks", false],
  ["https://id.example", "http://127.0.0.1/jwks", false],
  ["https://id.example", "https://localhost/jwks", false],
  ["https://id.example", "https://u:p@keys.example/jwks", false],
  ["https://id.example", "file:///etc/passwd", false],
  ["http://127.0.0.1:1", "http://192.0.2.1/jwks", false],
])("mayFollow for an issuer at %j with its keys at %j returns %j", (from, to, good) => {
  expect(mayFollow(from, to)).toBe(good);
});
