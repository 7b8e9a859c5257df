import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { cryptPasswordError, isSha512Crypt, saltFromBytes, sha512Crypt } from "../../src/lib/crypto/sha512-crypt.ts";
import { needs, present } from "../support/optional-programs.ts";

const VECTORS: [password: string, salt: string, hash: string][] = [
  ["a", "x", "6Zqbz8j5rMHIeJ1ujjjFXuZXSa/VORj.fVUEQcJc.rjR9.wCKlhZuymRQLtIEzcxNmqwX/fRNvM45BbvFayY51"],
  [
    "Hello world!",
    "saltstring",
    "svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1",
  ],
  [
    "we have a short salt string but not a short password",
    "short",
    "qmfj2meTBr5G2EAGIJ4vjX7RpefsD4JzpEyTAeEUJdzdxlBS6pe8gdMHm5zFftaFSj/2p2bjBwyVS9ZhWpLZt.",
  ],
  [
    "pässwörd €",
    "./azAZ09azAZ09az",
    "EHnVx0yCTVXH6VjjUWoup80AQBuPa93qdaOAimPshZE5zSTF.2UwvpgO/fqnGEj7N9oh2lH6B8WaX.CEiU7A1/",
  ],
  [
    "x".repeat(200),
    "abcdefgh",
    "tpP3/LI4wMLKhgKp8bTwVQweEEM46u1QVpxJ4s7//kd/n92pnKvxNc51RM.csWa9OlZn10Z4pRopwomQmhBXx1",
  ],
];

test.each(VECTORS)("%j with salt %s gives the same hash as OpenSSL", (password, salt, hash) => {
  expect(sha512Crypt(password, salt)).toBe(`$6$${salt}$${hash}`);
});

function openssl(password: string, salt: string): string {
  const words = ["passwd", "-6", "-salt", salt, "-stdin"];
  return execFileSync(present("openssl"), words, { input: `${password}\n`, encoding: "utf8" }).trim();
}

test("passwords with lengths around the digest's 64 bytes give the same hash as this machine's OpenSSL", (context) => {
  needs(context, "openssl");
  for (const length of [2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200]) {
    const password = "pä$ 'x\"".repeat(40).slice(0, length);
    const salt = "./azAZ09salt.Xyz".slice(0, 1 + length % 16);
    expect(sha512Crypt(password, salt), `length ${length}`).toBe(openssl(password, salt));
  }
});

test("a password is 1 to 511 bytes without NUL", () => {
  const error = "password must be 1 to 511 bytes of UTF-8 without NUL";
  for (const good of ["x", "x".repeat(511), `x${"ä".repeat(255)}`]) expect(cryptPasswordError(good)).toBeNull();
  for (const bad of ["", "x".repeat(512), "ä".repeat(256), "a\0b"]) {
    expect(cryptPasswordError(bad)).toBe(error);
    expect(() => sha512Crypt(bad, "salt")).toThrow(RangeError);
  }
  for (const salt of ["", "x".repeat(17), "a$b", "ä"]) expect(() => sha512Crypt("x", salt)).toThrow(RangeError);
});

test("a salt has 16 characters, each chosen by the low six bits of a byte", () => {
  expect(saltFromBytes(Uint8Array.from({ length: 16 }, (_, byte) => byte))).toBe("./0123456789ABCD");
  expect(saltFromBytes(new Uint8Array(20).fill(0xff))).toBe("z".repeat(16));
  expect(() => saltFromBytes(new Uint8Array(15))).toThrow(RangeError);
});

const HASH = `${"x".repeat(85)}1`;
test.each([`$6$salt$${HASH}`, `$6$a$${HASH}`, `$6$${"./azAZ09azAZ09az"}$${HASH}`])("%s may be stored", (hash) => {
  expect(isSha512Crypt(hash)).toBe(true);
});

test.each([
  "",
  "hunter2",
  `$5$salt$${HASH}`,
  `$6$$${HASH}`,
  `$6$${"x".repeat(17)}$${HASH}`,
  `$6$rounds=5000$salt$${HASH}`,
  `$6$rounds=999999999$salt$${HASH}`,
  `$6$salt$${HASH}x`,
  `$6$salt$${"x".repeat(85)}`,
  `$6$salt$${"x".repeat(86)}`,
  `$6$salt$${HASH}\n`,
  ` $6$salt$${HASH}`,
  `$6$sa;lt$${HASH}`,
  "$6$salt$${x}",
  `$6$sa lt$${HASH}`,
  `$6$sa'lt$${HASH}`,
  `$6$salt$${HASH.replace("x", "#")}`,
  "x".repeat(100_000),
])("%s is rejected", (hash) => expect(isSha512Crypt(hash)).toBe(false));

test("a computed hash may be stored", () => expect(isSha512Crypt(sha512Crypt("secret", "salt"))).toBe(true));
