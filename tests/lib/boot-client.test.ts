import { expect, test } from "vitest";
import { architectureText, guidsOfUuid } from "../../src/lib/net/boot-client.ts";

test("guidsOfUuid returns the UUID as it is printed, and with its first three fields little-endian", () => {
  expect(guidsOfUuid("4C4C4544-0033-3410-8036-C4C04F32334A")).toEqual([
    "4c4c4544003334108036c4c04f32334a",
    "44454c4c330010348036c4c04f32334a",
  ]);
});

test.each([[null, "unknown"], [0, "x86 BIOS"], [11, "ARM 64-bit UEFI"], [99, "number 99"]])(
  "architecture %s is shown as %s",
  (arch, text) => expect(architectureText(arch)).toBe(text),
);
