import fc from "fast-check";
import { expect, test } from "vitest";
import { redactSysinfo } from "../../src/lib/text/redact-sysinfo.ts";

const CANARY = "canary-5f1c";
const spelling = fc.constantFrom(
  "root_shadow",
  "ROOT_SHADOW",
  "Root_Shadow",
  " root_shadow\t",
  "root-shadow",
  "boot_params.root_shadow",
  "Boot Parameters/RabbitMQ",
  "rabbitmq",
  "RABBITMQ",
  "rabbitmq.password",
  "a.rabbitmq.b",
);
const secret = fc.tuple(spelling, fc.constantFrom(CANARY, [CANARY], { deep: { er: CANARY } } as unknown));
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 6 },
    fc.jsonValue({ maxDepth: 1 }),
    fc.array(tie("tree"), { maxLength: 4 }),
    fc.tuple(fc.dictionary(fc.string(), tie("tree"), { maxKeys: 4 }), secret)
      .map(([members, [key, value]]) => ({ ...members, [key]: value })),
  ),
}));

test("every secret is removed, at any depth and whatever the spelling of its key", () => {
  fc.assert(
    fc.property(tree, (sysinfo) => {
      expect(JSON.stringify(redactSysinfo(sysinfo)) ?? "").not.toContain(CANARY);
    }),
    { numRuns: 500 },
  );
});

test("all other members are kept in order, and the input is not changed", () => {
  const sysinfo = { z: 1, root_shadow: "x", a: [{ rabbitmq: "y", keep: null }, "root_shadow=x"], shadow: true };
  const before = structuredClone(sysinfo);
  expect(JSON.stringify(redactSysinfo(sysinfo))).toBe('{"z":1,"a":[{"keep":null},"root_shadow=x"],"shadow":true}');
  expect(sysinfo).toEqual(before);
});

test("members whose names only resemble the name of a secret are kept", () => {
  const sysinfo = { root_shadow_set: true, my_rabbitmq: 1, rabbitmqx: 2, root: { shadow: 3 } };
  expect(redactSysinfo(sysinfo)).toEqual(sysinfo);
});

test("a member named __proto__ is copied as data", () => {
  const copy = redactSysinfo(JSON.parse('{"__proto__":{"isRoot":true,"rabbitmq":1}}')) as Record<string, unknown>;
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  expect(copy.isRoot).toBeUndefined();
  expect(JSON.stringify(copy)).toBe('{"__proto__":{"isRoot":true}}');
});

test("a hundred thousand levels of nesting do not overflow the stack", () => {
  let sysinfo: unknown = { root_shadow: CANARY, bottom: true };
  for (let level = 0; level < 100_000; level++) sysinfo = level % 2 ? [sysinfo] : { next: sysinfo };
  let copy = redactSysinfo(sysinfo) as Record<string, unknown>;
  while ("next" in copy || Array.isArray(copy)) copy = (Array.isArray(copy) ? copy[0] : copy.next) as typeof copy;
  expect(copy).toEqual({ bottom: true });
});

test.each([null, 0, "", "root_shadow", true, []])("%j is returned unchanged", (value) => {
  expect(redactSysinfo(value)).toEqual(value);
});
