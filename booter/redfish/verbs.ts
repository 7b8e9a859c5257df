// The Redfish actions of the booter. Each action handles the differences between vendors. setOnetimeBoot never changes
// the boot mode.
import { type Bmc, BmcFault } from "./bmc.ts";

export const BOOT_TARGETS = ["uefi-http", "pxe"] as const;
export type BootTarget = (typeof BOOT_TARGETS)[number];
const REDFISH_TARGETS = { "uefi-http": "UefiHttp", pxe: "Pxe" } as const;

export type Pause = {
  readonly sleep: (ms: number) => Promise<void>;
  readonly limit_ms: number;
  readonly step_ms: number;
};

type Bag = Readonly<Record<string, unknown>>;

/** BIOS attributes that set the boot mode, and their values for UEFI. Supermicro appends numbers to the name. */
const MODE_ATTRIBUTES: readonly { readonly name: RegExp; readonly uefi: readonly string[] }[] = [
  { name: /^BootMode$/, uefi: ["Uefi", "UefiOptimized", "UEFI"] },
  { name: /^BootModeSelect/i, uefi: ["UEFI"] },
  { name: /^BootModes_SystemBootMode$/, uefi: ["UEFIMode", "UEFI Mode"] },
  { name: /^BootMode_?\w{0,16}$/i, uefi: ["UEFI", "Uefi"] },
];

/** Returns the path of the BMC's only system. */
async function systemPath(bmc: Bmc): Promise<string> {
  const root = await bmc.get("/redfish/v1/");
  const systems = await bmc.get(linkOf(root.body.Systems) ?? "/redfish/v1/Systems");
  const members = (Array.isArray(systems.body.Members) ? systems.body.Members : []).flatMap((each) =>
    linkOf(each) ?? []
  );
  if (members.length !== 1) {
    const list = members.length === 0 ? "" : ` (${members.join(", ")})`;
    throw new BmcFault(
      `the BMC has ${members.length} systems${list}; the booter supports BMCs with exactly one system`,
    );
  }
  return members[0]!;
}

/** Sets the boot mode to UEFI. Returns a message for the operator. */
export async function ensureUefi(bmc: Bmc): Promise<string> {
  const { body: system } = await bmc.get(await systemPath(bmc));
  const bios_path = linkOf(system.Bios);
  if (bios_path === null) throw new BmcFault("the BMC shows no BIOS settings; set the boot mode to UEFI by hand");
  const { body: bios } = await bmc.get(bios_path);
  const attributes = bagOf(bios.Attributes);
  const found =
    MODE_ATTRIBUTES.flatMap(({ name, uefi }) =>
      Object.keys(attributes).filter((key) => name.test(key)).map((key) => ({ key, uefi }))
    )[0];
  if (found === undefined) {
    throw new BmcFault("the BIOS settings have no known attribute for the boot mode; set it to UEFI by hand");
  }
  const now = attributes[found.key];
  if (typeof now === "string" && found.uefi.includes(now)) return `the boot mode is already UEFI (${found.key}=${now})`;
  const settings = linkOf(bagOf(bios["@Redfish.Settings"]).SettingsObject) ?? bios_path;
  const value = typeof now === "string" && /^legacy/i.test(now) && found.key === "BootMode"
    ? hpeOr(now)
    : found.uefi[0]!;
  const apply = bagOf(bios["@Redfish.Settings"]).SupportedApplyTimes;
  const on_reset = Array.isArray(apply) && apply.includes("OnReset");
  await bmc.patch(settings, {
    Attributes: { [found.key]: value },
    ...(on_reset ? { "@Redfish.SettingsApplyTime": { ApplyTime: "OnReset" } } : {}),
  });
  return `the boot mode will be UEFI after the next start (${found.key}=${value})`;
}

/** Returns the name of the UEFI mode: HPE calls the modes LegacyBios and UefiOptimized. */
function hpeOr(now: string): string {
  return now === "LegacyBios" ? "UefiOptimized" : "Uefi";
}

export async function setOnetimeBoot(bmc: Bmc, target: BootTarget): Promise<string> {
  const path = await systemPath(bmc);
  const { body: system } = await bmc.get(path);
  const wanted = REDFISH_TARGETS[target];
  const allowed = bagOf(system.Boot)["BootSourceOverrideTarget@Redfish.AllowableValues"];
  if (Array.isArray(allowed) && !allowed.includes(wanted)) {
    const hint = target === "uefi-http" && allowed.includes("Pxe") ? "; try --target pxe" : "";
    throw new BmcFault(`the BMC cannot boot from ${wanted} once (it offers: ${allowed.join(", ")})${hint}`);
  }
  const change = { Boot: { BootSourceOverrideEnabled: "Once", BootSourceOverrideTarget: wanted } };
  const future = linkOf(bagOf(system["@Redfish.Settings"]).SettingsObject);
  let written = path;
  try {
    await bmc.patch(path, change);
  } catch (error) {
    // AMI's BMCs accept the change only at the settings resource.
    if (!(error instanceof BmcFault) || future === null || error.status === 401 || error.status === 403) throw error;
    await bmc.patch(future, change);
    written = future;
  }
  const held = bagOf((await bmc.get(written)).body.Boot);
  if (held.BootSourceOverrideTarget !== wanted || held.BootSourceOverrideEnabled !== "Once") {
    throw new BmcFault(
      `the BMC accepted the change, but its boot override is ${String(held.BootSourceOverrideTarget)} (${
        String(held.BootSourceOverrideEnabled)
      })`,
    );
  }
  return `the next start boots from ${wanted}, once`;
}

export async function powerCycle(bmc: Bmc, pause: Pause): Promise<string> {
  const path = await systemPath(bmc);
  const { body: system } = await bmc.get(path);
  const action = bagOf(bagOf(system.Actions)["#ComputerSystem.Reset"]);
  const target = typeof action.target === "string" ? action.target : null;
  if (target === null) throw new BmcFault("the BMC offers no reset of the system");
  const allowed = await resetTypes(bmc, action);
  const reset = (type: string) => bmc.post(target, { ResetType: type });
  if (system.PowerState === "Off") {
    await reset("On");
    await powered(bmc, path, { state: "On", pause });
    return "the machine was off and is now on";
  }
  for (const type of ["ForceRestart", "PowerCycle"]) {
    if (allowed !== null && !allowed.includes(type)) continue;
    try {
      await reset(type);
      return `the machine is restarting (${type})`;
    } catch (error) {
      // Some BMCs list reset types that they do not support.
      if (!(error instanceof BmcFault) || ![400, 405, 409, 501].includes(error.status ?? 0)) throw error;
    }
  }
  await reset("ForceOff");
  await powered(bmc, path, { state: "Off", pause });
  await reset("On");
  await powered(bmc, path, { state: "On", pause });
  return "the machine was switched off and on";
}

async function resetTypes(bmc: Bmc, action: Bag): Promise<readonly unknown[] | null> {
  const listed = action["ResetType@Redfish.AllowableValues"];
  if (Array.isArray(listed)) return listed;
  const info = typeof action["@Redfish.ActionInfo"] === "string" ? action["@Redfish.ActionInfo"] : null;
  if (info === null) return null;
  const parameters = (await bmc.get(info)).body.Parameters;
  const found = Array.isArray(parameters) ? parameters.map(bagOf).find(({ Name }) => Name === "ResetType") : undefined;
  return Array.isArray(found?.AllowableValues) ? found.AllowableValues : null;
}

/** Waits until the BMC shows the wanted power state, because BMCs answer before the power changes. */
async function powered(bmc: Bmc, path: string, { state, pause }: { state: "On" | "Off"; pause: Pause }): Promise<void> {
  for (let waited_ms = 0; waited_ms <= pause.limit_ms; waited_ms += pause.step_ms) {
    // Ignores a failed request and asks again.
    const shown = await bmc.get(path).then(({ body }) => body.PowerState, () => undefined);
    if (shown === state) return;
    await pause.sleep(pause.step_ms);
  }
  throw new BmcFault(`the machine is not ${state} after ${pause.limit_ms / 1_000} s`);
}

function bagOf(value: unknown): Bag {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Bag : {};
}

function linkOf(value: unknown): string | null {
  const link = bagOf(value)["@odata.id"];
  return typeof link === "string" && link.startsWith("/") ? link : null;
}
