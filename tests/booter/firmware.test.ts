// Boots machines from the real booter: machines with Secure Boot, with ARM64 firmware, and with boot by HTTPS.
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { compiled } from "../support/compiled.ts";
import { lacking, present } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { ARM64_NEEDS, SECURE_NEEDS, stageArm64, stageSecure } from "./firmware.ts";
import { boots, type NetbootFixture, openNetbootFixture, whyNoNetboot } from "./netboot-fixture.ts";

const no_netboot = await whyNoNetboot(["uefi"]);

describe("a machine with Secure Boot", () => {
  const why_not = no_netboot ?? lacking(...SECURE_NEEDS);
  beforeEach((context) => context.skip(why_not !== null, why_not ?? ""));

  test.each(["secure", "secure_http"] as const)(
    "boots by %s with the shim and then the signed iPXE",
    async (mode) => {
      const fixture = await openNetbootFixture({ prepare: stageSecure });
      try {
        const mac = "52:54:00:aa:05:01";
        expect(await boots(fixture, { mac, mode }), fixture.booter().text()).toBe(true);
      } finally {
        await fixture.close();
      }
    },
    300_000,
  );

  test("does not boot if iPXE is not signed", async () => {
    const prepare = async (files: string) => {
      await stageSecure(files);
      await copyFile(present("iPXE for Secure Boot"), join(files, "grubx64.efi"));
    };
    const fixture = await openNetbootFixture({ prepare });
    try {
      const vm = await fixture.power("52:54:00:aa:05:02", "secure");
      expect(await vm.prints(/Access Denied|Verification failed|Security Violation/i), await vm.console()).toBe(true);
      expect(await vm.console()).not.toContain("booted");
      await vm.off();
    } finally {
      await fixture.close();
    }
  }, 300_000);
});

describe("an ARM64 machine", () => {
  const why_not = no_netboot ?? lacking(...ARM64_NEEDS);
  beforeEach((context) => context.skip(why_not !== null, why_not ?? ""));

  test.each(["arm64", "arm64_http"] as const)("boots by %s", async (mode) => {
    const fixture = await openNetbootFixture({ prepare: stageArm64, kind: "arm64" });
    try {
      expect(await boots(fixture, { mac: "52:54:00:aa:05:03", mode }), fixture.booter().text()).toBe(true);
    } finally {
      await fixture.close();
    }
  }, 300_000);
});

// OVMF of Debian 12 offers only old key exchanges. The compiled booter supports them, but the runtime of the tests
// does not.
describe("a machine that boots by HTTPS, with the compiled booter", () => {
  const why_not = no_netboot ?? lacking("openssl");
  let folder: TemporaryFolder;
  let fixture: NetbootFixture;
  beforeAll(async () => {
    if (why_not !== null) return;
    folder = await temporaryFolder("https-boot");
    const { path: executable } = await compiled("booter", folder.path);
    fixture = await openNetbootFixture({ is_https: true, executable });
  }, 180_000);
  afterAll(async () => {
    await fixture?.close();
    await folder?.remove();
  });
  beforeEach((context) => context.skip(why_not !== null, why_not ?? ""));

  test("loads its first program by HTTPS if it trusts the booter's certificate", async () => {
    const mac = "52:54:00:aa:05:04";
    const vm = await fixture.power(mac, "uefi_https");
    expect(await vm.prints(/URI: https:\/\/10\.77\.0\.1:443\/firmware\/snponly\.efi/), await vm.console()).toBe(true);
    expect(await boots(fixture, { mac, mode: "uefi_https", running: vm }), fixture.booter().text()).toBe(true);
  }, 300_000);

  test("does not boot if it does not trust the certificate", async () => {
    const mac = "52:54:00:aa:05:05";
    const vm = await fixture.power(mac, "uefi_http");
    expect(await vm.prints(/Could not retrieve NBP file size/), await vm.console()).toBe(true);
    expect(await vm.console()).not.toContain("booted");
    await vm.off();
  }, 300_000);
});
