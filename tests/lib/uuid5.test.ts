import { expect, test } from "vitest";
import { isUuid5, uuid5 } from "../../src/lib/ids/uuid5.ts";

// The namespaces of RFC 9562, 6.6.
const DNS = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
const URL_SPACE = "6ba7b811-9dad-11d1-80b4-00c04fd430c8";

test("the example of RFC 9562, A.4, has the UUID that the RFC gives", () => {
  expect(uuid5(DNS, "www.example.com")).toBe("2ed6657d-e927-568b-95e1-2665a8aea6a2");
});

test("the letter case of a namespace has no effect, and another namespace gives another UUID", () => {
  expect(uuid5(DNS.toUpperCase(), "a")).toBe(uuid5(DNS, "a"));
  expect(uuid5(URL_SPACE, "a")).not.toBe(uuid5(DNS, "a"));
});

test("for every name, the version is 5 and the variant is RFC 9562's", () => {
  for (let n = 0; n < 200; n++) {
    const uuid = uuid5(DNS, `name ${n}`);
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(isUuid5(uuid)).toBe(true);
  }
  expect(isUuid5(DNS)).toBe(false);
});

test.each(["", "dns", DNS.replaceAll("-", ""), `${DNS}0`])("%o is not a namespace", (namespace) => {
  expect(() => uuid5(namespace, "a")).toThrow(RangeError);
});
