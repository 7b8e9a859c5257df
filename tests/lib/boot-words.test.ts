import fc from "fast-check";
import { expect, test } from "vitest";
import { Hostname } from "../../src/contract/agent.ts";
import { KernelArgument, OwnKernelArgument, Stamp } from "../../src/contract/boot.ts";
import { isHostname } from "../../src/lib/net/hostname.ts";
import { isKernelArgument, reservedKernelArgument } from "../../src/lib/text/kernel-argument.ts";
import { isStamp } from "../../src/lib/ids/stamp.ts";

const HOSTILE = ["", "a b", "a\n", "a\t", "\0", "${x}", "a#b", "a||b", "a&&b", "a;b", "a'b", 'a"b', "a`b", "a\\b", "ä"];

test.each(HOSTILE)("%j is rejected as a host name, a stamp and a kernel argument", (text) => {
  for (const accepts of [isHostname, isStamp, isKernelArgument]) expect(accepts(text)).toBe(false);
});

test("a host name is 1 to 63 letters, digits and inner hyphens", () => {
  for (const good of ["a", "N1", "0", "a-b", "a--b", "x".repeat(63)]) expect(isHostname(good)).toBe(true);
  for (const bad of ["-a", "a-", "-", "a.b", "a_b", "x".repeat(64)]) expect(isHostname(bad)).toBe(false);
});

test("a stamp is 1 to 64 letters, digits, dots, underscores and hyphens, without two dots in a row", () => {
  for (const good of ["20250611T000000Z", "a.b_c-d", "x".repeat(64)]) expect(isStamp(good)).toBe(true);
  for (const bad of ["..", "a..b", "../a", "a/b", "x".repeat(65)]) expect(isStamp(bad)).toBe(false);
});

test("a kernel argument is 1 to 256 characters of a fixed set", () => {
  for (const good of ["-v", "console=ttyb,115200n8", "-Bsmartos=true", "a@b%c+d/e:f", "x".repeat(256)]) {
    expect(isKernelArgument(good)).toBe(true);
  }
  for (const bad of ["a(b)", "a<b", "a*b", "a~b", "x".repeat(257)]) expect(isKernelArgument(bad)).toBe(false);
});

test("isHostname, isStamp and isKernelArgument accept the same texts as the contract's schemas", () => {
  const word = fc.oneof(
    fc.string({ unit: fc.constantFrom(..."aZ09._-=,:/+@% \n#$"), maxLength: 70 }),
    fc.integer({ min: 60, max: 260 }).map((length) => "x".repeat(length)),
  );
  fc.assert(
    fc.property(word, (text) => {
      expect(isHostname(text)).toBe(Hostname.safeParse(text).success);
      expect(isStamp(text)).toBe(Stamp.safeParse(text).success);
      expect(isKernelArgument(text)).toBe(KernelArgument.safeParse(text).success);
    }),
    { numRuns: 1_000 },
  );
});

test("an operator's kernel argument sets no property that only the booter may set", () => {
  const accepts = (text: string) => OwnKernelArgument.safeParse(text).success;
  for (const bad of ["root_shadow=x", "Root-Shadow", "rabbitmq=a:b", "-Bx=1,destroy-zpools=true", "a=1,RABBITMQ=b"]) {
    expect([bad, accepts(bad), reservedKernelArgument(bad)]).toEqual([bad, false, expect.any(String)]);
  }
  for (const good of ["root=/dev/sda", "x=root_shadow", "rabbitmq_dns=a", "-v", "my_rabbitmq=a"]) {
    expect([good, accepts(good), reservedKernelArgument(good)]).toEqual([good, true, null]);
  }
});

test("texts of 100 KB are rejected", () => {
  for (const text of ["a-".repeat(50_000), "a".repeat(100_000), `${"a".repeat(100_000)}!`, ".".repeat(100_000)]) {
    for (const accepts of [isHostname, isStamp, isKernelArgument]) expect(accepts(text)).toBe(false);
  }
});
