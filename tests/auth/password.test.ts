// Passwords are hashed and verified in a queue of limited length.
import { afterEach, beforeEach, expect, test } from "vitest";
import { createPasswords, type Passwords, PASSWORDS_BUSY } from "../../src/auth/password.ts";

let passwords: Passwords;
beforeEach(() => void (passwords = createPasswords()));
afterEach(() => passwords.close());

const LONG = "ä".repeat(1_024);

test("a password matches only its own hash, and equal passwords have different hashes", async () => {
  const [first, again] = [await passwords.hash(LONG), await passwords.hash(LONG)] as [string, string];
  expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(again).not.toBe(first);
  expect(await passwords.verify(LONG, again)).toBe(true);
  for (const wrong of ["", " ", LONG.slice(1), `${LONG}ä`, LONG.toUpperCase()]) {
    expect(await passwords.verify(wrong, first)).toBe(false);
  }
});

test("a user without a password cannot log in with any password, not even with an empty or blank password", async () => {
  for (const password of ["", " ", "anything"]) expect(await passwords.verify(password, null)).toBe(false);
});

test("a full queue refuses further tasks at once, and close() rejects the queued tasks", async () => {
  const waiting = Array.from({ length: 64 }, () => passwords.verify("p", null));
  const settled = Promise.allSettled(waiting);
  expect(await passwords.verify("p", null)).toBe(PASSWORDS_BUSY);
  expect(await passwords.hash("p")).toBe(PASSWORDS_BUSY);
  await passwords.close();
  expect((await settled).some(({ status }) => status === "rejected")).toBe(true);
});
