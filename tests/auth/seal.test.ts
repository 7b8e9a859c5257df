import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { derive, open, seal } from "../../src/auth/seal.ts";

const secret = randomBytes(32);
const context = { purpose: "pending-key", id: "cn-1" };

test("a sealed text can be opened, and the same text sealed twice has different sealed forms", () => {
  for (const text of ["", "opsk_secret", "é\u2028💡".repeat(1_000)]) {
    const sealed = seal(secret, text, context);
    expect(open(secret, sealed, context)).toBe(text);
    expect(seal(secret, text, context)).not.toBe(sealed);
  }
});

test("the bytes of a sealed text do not contain the plaintext", () => {
  const canary = "canary-canary-canary-canary";
  const sealed = seal(secret, canary, context);
  const bytes = Buffer.from(sealed.slice(3), "base64url");
  expect(sealed).toMatch(/^s1\.[A-Za-z0-9_-]+$/);
  expect(bytes.includes(canary)).toBe(false);
});

test("a sealed text cannot be opened with another secret, purpose or record", () => {
  const sealed = seal(secret, "text", context);
  const message = /cannot open the sealed pending-key of cn-1/;
  expect(() => open(randomBytes(32), sealed, context)).toThrow(message);
  expect(() => open(secret, sealed, { ...context, purpose: "signing-key" })).toThrow("signing-key of cn-1");
  expect(() => open(secret, sealed, { ...context, id: "cn-2" })).toThrow("pending-key of cn-2");
});

test("a sealed text with a changed bit, without its end, or in a wrong format cannot be opened", () => {
  const sealed = seal(secret, "text", context);
  const bytes = Buffer.from(sealed.slice(3), "base64url");
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    expect(() => open(secret, `s1.${changed.toString("base64url")}`, context)).toThrow("cannot open");
  }
  for (const wrong of ["", "s1.", "text", sealed.slice(0, -4), `s2.${sealed.slice(3)}`]) {
    expect(() => open(secret, wrong, context)).toThrow("cannot open");
  }
});

test("two contexts differ even if the joined text of purpose and id is the same", () => {
  const sealed = seal(secret, "text", { purpose: 'a","b', id: "c" });
  expect(() => open(secret, sealed, { purpose: "a", id: 'b","c' })).toThrow("cannot open");
  expect(derive(secret, { purpose: "ab", id: "c" }, 16)).not.toEqual(derive(secret, { purpose: "a", id: "bc" }, 16));
});

test("a derived value is the same for the same secret, purpose and id, and differs if one of these differs", () => {
  const value = derive(secret, context, 24);
  expect(value).toHaveLength(24);
  expect(derive(secret, context, 24)).toEqual(value);
  const others = [
    derive(randomBytes(32), context, 24),
    derive(secret, { ...context, purpose: "other" }, 24),
    derive(secret, { ...context, id: "cn-2" }, 24),
  ];
  for (const other of others) expect(other).not.toEqual(value);
});
