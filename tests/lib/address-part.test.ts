import { expect, test } from "vitest";
import { isAddressPart } from "../../src/lib/net/address-part.ts";

test.each(["10.0.3", "10", ".", "fd00::1", "fd", ":", "02:00:5e", "2001:db8", "abcd"])(
  "%j can be a part of an address",
  (text) => expect(isAddressPart(text)).toBe(true),
);

test.each(["", "vm-7", "web", "10.0.0.0/24", "01a21f83", "12345", "10.0.0.1 "])(
  "%j cannot be a part of an address",
  (text) => expect(isAddressPart(text)).toBe(false),
);
