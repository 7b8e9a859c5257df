// Tests the redfish commands with a fake BMC that can simulate quirks of several vendors.
import { Buffer } from "node:buffer";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { fakeEnvironment } from "../cli/fake-environment.ts";
import { runBooter } from "../../booter/program.ts";
import { openBmc } from "../../booter/redfish/bmc.ts";
import { ensureUefi } from "../../booter/redfish/boot-mode.ts";
import { type System, systemOf } from "../../booter/redfish/system.ts";
import { type Pause, powerCycle, powerOff, setOnetimeBoot } from "../../booter/redfish/verbs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type Bmc, openBmcMock, PASSWORD, type Quirks } from "./redfish-mock.ts";

const PAUSE: Pause = { sleep: () => Promise.resolve(), limit_ms: 20, step_ms: 1 };
const UEFI_HTTP = { target: "uefi-http", pause: PAUSE } as const;
let mock: Bmc;
afterEach(() => mock.close());

type Body<T> = (bmc: Awaited<ReturnType<typeof openBmc>>, system: System) => Promise<T>;

async function doing<T>(quirks: Quirks, body: Body<T>): Promise<T> {
  mock = await openBmcMock(quirks);
  const { sleep } = PAUSE;
  const { signal } = new AbortController();
  const login = { user: "admin", password: PASSWORD, accept_invalid_certs: false };
  const bmc = await openBmc({ host: mock.url, ...login, signal, sleep });
  try {
    return await body(bmc, await systemOf(bmc, null));
  } finally {
    await bmc.close();
  }
}
const changes = () =>
  mock.requests.filter(({ method }) => method === "PATCH" || (method === "POST" && !mock.requests.length));
const resets = () =>
  mock.requests.filter(({ path }) => path.endsWith("ComputerSystem.Reset")).map(({ body }) =>
    (body as { ResetType: string }).ResetType
  );

describe("set-onetime-boot", () => {
  test.each<[string, Quirks]>([
    ["without quirks", {}],
    ["with a required strong ETag", { etag: "strong", needs_etag: true }],
    ["with a weak ETag that must be sent as a strong ETag", { etag: "weak", needs_etag: true }],
    ["with an ETag only in the body", { etag: "body", needs_etag: true }],
    ["with a required ETag that the BMC does not show", { needs_etag: true }],
    ["with a BMC that refuses its own ETag", { etag: "strong", refuses_etag: true }],
    ["with a BMC that accepts the change only at the settings resource", { settings_only: true }],
    ["without sessions", { no_sessions: true }],
  ])("works %s, and never sends a boot mode", async (_name, quirks) => {
    expect(await doing(quirks, (bmc, system) => setOnetimeBoot(bmc, system, UEFI_HTTP))).toContain("UefiHttp");
    expect(mock.state.boot).toMatchObject({ BootSourceOverrideEnabled: "Once", BootSourceOverrideTarget: "UefiHttp" });
    expect(changes().length).toBeGreaterThan(0);
    expect(JSON.stringify(changes().map(({ body }) => body))).not.toContain("Mode");
    expect(mock.state.sessions).toBe(0);
  });

  test("names the supported targets in the error if the BMC does not support the requested target", async () => {
    await expect(doing({ targets: ["Pxe", "Hdd"] }, (bmc, system) => setOnetimeBoot(bmc, system, UEFI_HTTP))).rejects
      .toThrow(
        "the BMC cannot boot from UefiHttp once (it offers: Pxe, Hdd); try --target pxe",
      );
    expect(changes()).toEqual([]);
  });

  test.each<[string, Quirks, RegExp]>([
    ["accepts the change and ignores it", { forgets: true }, /accepted the change, but its boot override is None/],
    ["answers an error with 200", { refuses_with_200: true }, /The value is not accepted/],
    ["has two systems", { systems: 2 }, /has 2 systems/],
    ["has no system", { systems: 0 }, /has 0 systems/],
  ])("fails with a BMC that %s", async (_name, quirks, message) => {
    await expect(doing(quirks, (bmc, system) => setOnetimeBoot(bmc, system, { target: "pxe", pause: PAUSE }))).rejects
      .toThrow(message);
  });
});

describe("ensure-uefi", () => {
  test.each([
    [{ BootMode: "Bios" }, { BootMode: "Uefi" }],
    [{ BootMode: "LegacyBios" }, { BootMode: "Uefi" }],
    [{ BootModeSelect_00F3: "Legacy" }, { BootModeSelect_00F3: "UEFI" }],
    [{ BootModes_SystemBootMode: "LegacyMode" }, { BootModes_SystemBootMode: "UEFIMode" }],
  ])("%j becomes %j at the next start", async (bios, after) => {
    await doing({ bios, etag: "strong" }, ensureUefi);
    expect(mock.state.bios).toEqual(after);
    expect(changes()[0]?.body).toMatchObject({ "@Redfish.SettingsApplyTime": { ApplyTime: "OnReset" } });
  });

  test("uses the value for UEFI that the BMC's registry allows, and fails if the registry allows no such value", async () => {
    const bios = { BootMode: "LegacyBios" };
    await doing({ bios, bios_allows: { BootMode: ["LegacyBios", "Uefi"] } }, ensureUefi);
    expect(mock.state.bios).toEqual({ BootMode: "Uefi" });
    await mock.close();
    await doing({ bios, bios_allows: { BootMode: ["LegacyBios", "UEFI Mode"] } }, ensureUefi);
    expect(mock.state.bios).toEqual({ BootMode: "UEFI Mode" });
    await mock.close();
    await expect(doing({ bios, bios_allows: { BootMode: ["LegacyBios"] } }, ensureUefi)).rejects.toThrow(
      "has no value for UEFI (it allows: LegacyBios)",
    );
  });

  test.each([[{ BootMode: "Uefi" }], [{ BootMode: "UefiOptimized" }], [{ BootModes_SystemBootMode: "UEFIMode" }]])(
    "changes no setting if the settings are %j",
    async (bios) => {
      expect(await doing({ bios }, ensureUefi)).toContain("already");
      expect(changes()).toEqual([]);
    },
  );

  test("fails if the settings have no known attribute for the boot mode", async () => {
    await expect(doing({ bios: { Something: "x" } }, ensureUefi)).rejects.toThrow("in the machine's setup screen");
  });
});

describe("power-cycle", () => {
  test.each<[string, Quirks, string[]]>([
    ["restarts a machine that is on", {}, ["ForceRestart"]],
    ["starts a machine that is off", { power: "Off" }, ["On"]],
    ["cycles the power if the BMC has no restart", { resets: ["On", "ForceOff", "PowerCycle"] }, ["PowerCycle"]],
    ["switches off and on if the BMC has no PowerCycle", { resets: ["On", "ForceOff"], slow: 3 }, ["ForceOff", "On"]],
    ["tries the next reset type if the BMC lists a reset type that it does not support", {
      resets: ["On", "ForceOff"],
      lists_missing_resets: true,
    }, [
      "ForceRestart",
      "PowerCycle",
      "ForceOff",
      "On",
    ]],
  ])("%s", async (_name, quirks, expected) => {
    await doing(quirks, (bmc, system) => powerCycle(bmc, system, PAUSE));
    expect([resets(), mock.state.power]).toEqual([expected, "On"]);
  });

  test("fails if the power state never changes", async () => {
    await expect(doing({ power: "Off", slow: 1_000 }, (bmc, system) => powerCycle(bmc, system, PAUSE))).rejects.toThrow(
      "is not On after",
    );
  });
});

describe("power-off", () => {
  test("switches the machine off and waits until it is off", async () => {
    expect(await doing({ slow: 3 }, (bmc, system) => powerOff(bmc, system, PAUSE))).toBe("the machine is off");
    expect([resets(), mock.state.power]).toEqual([["ForceOff"], "Off"]);
  });

  test("sends nothing to a machine that is off", async () => {
    expect(await doing({ power: "Off" }, (bmc, system) => powerOff(bmc, system, PAUSE))).toBe(
      "the machine is off already",
    );
    expect(resets()).toEqual([]);
  });

  test("fails if the machine stays on", async () => {
    await expect(doing({ slow: 1_000 }, (bmc, system) => powerOff(bmc, system, PAUSE))).rejects.toThrow(
      "is not Off after",
    );
  });
});

describe("the command", () => {
  async function command(password: string, mode: number, ...argv: string[]) {
    mock = await openBmcMock();
    const folder = await temporaryFolder("redfish");
    const file = join(folder.path, "password");
    await writeFile(file, password, { mode });
    const { environment, out, err } = fakeEnvironment();
    const words = ["redfish", "--host", mock.url, "--user", "admin", "--password-file", file, ...argv];
    const code = await runBooter(words, environment);
    await folder.remove();
    return { code, out: out(), err: err() };
  }

  test("reads the password from its file, without the line break, and boots from HTTP by default", async () => {
    expect(await command(`${PASSWORD}\n`, 0o600, "set-onetime-boot")).toEqual({
      code: 0,
      out: "the next start boots from UefiHttp, once\n",
      err: "",
    });
  });

  test("refuses a password file that others can read, and prints no password", async () => {
    const open = await command(PASSWORD, 0o644, "power-cycle");
    expect([open.code, open.err]).toEqual([1, expect.stringContaining("is accessible to other users")]);
    await mock.close();
    const wrong = await command("wrong-pass", 0o600, "power-cycle");
    expect([wrong.code, wrong.err]).toEqual([1, "error: the BMC refused the user name or the password\n"]);
    expect(Buffer.from(JSON.stringify(wrong)).includes("wrong-pass")).toBe(false);
  });

  test("sets the boot URI, and fails if the BMC ignores the URI", async () => {
    const uri = "https://10.0.0.1:443/firmware/snponly.efi";
    expect((await command(PASSWORD, 0o600, "set-onetime-boot", "--boot-uri", uri)).code).toBe(0);
    expect(mock.state.boot).toMatchObject({ BootSourceOverrideTarget: "UefiHttp", HttpBootUri: uri });
    await expect(
      doing({ ignores_boot_uri: true }, (bmc, system) => setOnetimeBoot(bmc, system, { ...UEFI_HTTP, boot_uri: uri })),
    ).rejects.toThrow("the BMC did not take the boot URI: it shows none");
  });

  test.each([
    ["ftp://10.0.0.1/snponly.efi"],
    ["https://10.0.0.1/"],
    ["http://10.0.0.1/a b.efi"],
    ["https://10.0.0.1/x.efi", "--target", "pxe"],
  ])("refuses the boot URI %s", async (...argv) => {
    const refused = await command(PASSWORD, 0o600, "set-onetime-boot", "--boot-uri", ...argv);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("--boot-uri")]);
  });

  test("refuses the unsupported target cd", async () => {
    expect((await command(PASSWORD, 0o600, "set-onetime-boot", "--target", "cd")).code).toBe(2);
  });
});
