// The shim of Secure Boot (shimx64.efi) starts a second program (grubx64.efi). `booter check` reports whether the shim
// would refuse this program.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { optionalPrograms } from "../../booter/check.ts";
import { efiSections } from "../../booter/efi-sections.ts";
import { openFiles } from "../../booter/files.ts";
import { needs, present } from "../support/optional-programs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Returns an EFI program that has only headers and these sections. */
function program(...sections: readonly string[]): Uint8Array {
  const [start, optional] = [0x80, 112];
  const bytes = new Uint8Array(start + 24 + optional + 40 * sections.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0x3c, start, true);
  bytes.set(new TextEncoder().encode("PE"), start);
  view.setUint16(start + 6, sections.length, true);
  view.setUint16(start + 20, optional, true);
  sections.forEach((name, index) => bytes.set(new TextEncoder().encode(name), start + 24 + optional + 40 * index));
  return bytes;
}

async function found(second: Uint8Array | null): Promise<string[]> {
  const folder = await temporaryFolder("shim");
  await writeFile(join(folder.path, "shimx64.efi"), program(".text", ".sbat"));
  if (second !== null) await writeFile(join(folder.path, "grubx64.efi"), second);
  const files = openFiles(folder.path, () => Promise.reject(new Error("this test has no node image")));
  await files.scan();
  const findings = optionalPrograms("/boot", files);
  await folder.remove();
  return findings.map(({ level, text }) => `${level} ${text}`);
}

test.each([
  [null, "fail /boot/grubx64.efi: is missing, and shimx64.efi loads it"],
  [new TextEncoder().encode("#!ipxe"), "fail /boot/grubx64.efi: is not an EFI program"],
  [program(".text", ".sbat").subarray(0, 0x80 + 24 + 112 + 50), "fail /boot/grubx64.efi: is not an EFI program"],
  [
    program(".text", ".reloc"),
    "fail /boot/grubx64.efi: has no section .sbat, so shimx64.efi refuses it; sign the iPXE of Debian 13 or later",
  ],
  [program(".text", ".sbat"), "ok shimx64.efi and grubx64.efi: found; UEFI machines start the shim"],
])("`booter check` reports whether the shim can start its second program (case %#)", async (second, finding) => {
  expect(await found(second)).toEqual([finding]);
});

test("the sections of Debian's shim are read", async (context) => {
  needs(context, "shim");
  expect(efiSections(await readFile(present("shim")))).toEqual(expect.arrayContaining([".text", ".sbat"]));
});
