// Sets the boot mode to UEFI by the BIOS attribute. If there is no such attribute or it is UEFI already, sets the mode
// of the boot override.
import { type Bmc, BmcFault } from "./bmc.ts";
import { bagOf, linkOf } from "./messages.ts";
import type { System } from "./system.ts";

/**
 * BIOS attributes that set the boot mode, each with its value for UEFI. These values are used if the BMC does not show
 * the allowed values. Supermicro appends numbers to the names.
 */
const MODE_ATTRIBUTES: readonly { readonly name: RegExp; readonly uefi: string }[] = [
  { name: /^BootMode$/, uefi: "Uefi" },
  { name: /^BootModeSelect/i, uefi: "UEFI" },
  { name: /^BootModes_SystemBootMode$/, uefi: "UEFIMode" },
  { name: /^BootMode_?\w{0,16}$/i, uefi: "UEFI" },
];
/** Values that mean UEFI, as vendors write them: Uefi, UEFI, UEFIMode, "UEFI Mode", UefiOptimized. */
const UEFI = /^uefi( ?mode|optimized)?$/i;

/** Sets the boot mode to UEFI. Returns a message for the operator. */
export async function ensureUefi(bmc: Bmc, system: System): Promise<string> {
  const by_attribute = await changeAttribute(bmc, system);
  if (by_attribute?.changed === true) return by_attribute.text;
  const by_override = await changeOverride(bmc, system, by_attribute !== null);
  const done = by_override?.changed === true ? by_override : by_attribute ?? by_override;
  if (done === null) {
    throw new BmcFault("the BMC shows no setting for the boot mode; set it to UEFI in the machine's setup screen");
  }
  return done.text;
}

type Done = { readonly changed: boolean; readonly text: string };

async function changeAttribute(bmc: Bmc, { body: system }: System): Promise<Done | null> {
  const bios_path = linkOf(system.Bios);
  if (bios_path === null) return null;
  const { body: bios } = await bmc.get(bios_path);
  const attributes = bagOf(bios.Attributes);
  const found =
    MODE_ATTRIBUTES.flatMap(({ name, uefi }) =>
      Object.keys(attributes).filter((key) => name.test(key)).map((key) => ({ key, uefi }))
    )[0];
  if (found === undefined) return null;
  const now = attributes[found.key];
  if (typeof now === "string" && UEFI.test(now)) {
    return { changed: false, text: `the boot mode is already UEFI (${found.key}=${now})` };
  }
  const allowed = await allowedValues(bmc, bios.AttributeRegistry, found.key);
  const value = allowed === null ? found.uefi : allowed.find((each) => UEFI.test(each));
  if (value === undefined) {
    throw new BmcFault(`the BIOS attribute ${found.key} has no value for UEFI (it allows: ${allowed!.join(", ")})`);
  }
  const settings = linkOf(bagOf(bios["@Redfish.Settings"]).SettingsObject) ?? bios_path;
  const apply = bagOf(bios["@Redfish.Settings"]).SupportedApplyTimes;
  const on_reset = Array.isArray(apply) && apply.includes("OnReset");
  const change = {
    Attributes: { [found.key]: value },
    ...(on_reset ? { "@Redfish.SettingsApplyTime": { ApplyTime: "OnReset" } } : {}),
  };
  await bmc.patch(settings, change, "scheduled");
  return { changed: true, text: `the boot mode will be UEFI after the next start (${found.key}=${value})` };
}

/**
 * Returns the values that the BMC's attribute registry allows for an attribute, or null if the BMC does not show them.
 */
async function allowedValues(bmc: Bmc, registry: unknown, attribute: string): Promise<string[] | null> {
  if (typeof registry !== "string" || !/^[\w.-]{1,128}$/.test(registry)) return null;
  try {
    const { body: file } = await bmc.get(`/redfish/v1/Registries/${registry}`);
    const uri = (Array.isArray(file.Location) ? file.Location : []).map((each) => bagOf(each).Uri)
      .find((each) => typeof each === "string" && each.startsWith("/"));
    if (typeof uri !== "string") return null;
    const entries = bagOf((await bmc.get(uri)).body.RegistryEntries).Attributes;
    const entry = (Array.isArray(entries) ? entries : []).map(bagOf).find((each) => each.AttributeName === attribute);
    const values = (Array.isArray(entry?.Value) ? entry.Value : []).map((each) => bagOf(each).ValueName)
      .filter((each) => typeof each === "string");
    return values.length === 0 ? null : values;
  } catch (error) {
    // Some BMCs name a registry that they do not serve.
    if (error instanceof BmcFault && error.status !== null) return null;
    throw error;
  }
}

/**
 * Sets the mode of the boot override. HPE's BMCs refuse this change, because only their BIOS attribute sets the mode.
 * So a refusal is not an error if a BIOS attribute sets UEFI already (`has_attribute`).
 */
async function changeOverride(bmc: Bmc, { path, body }: System, has_attribute: boolean): Promise<Done | null> {
  const boot = bagOf(body.Boot);
  const mode = boot.BootSourceOverrideMode;
  if (typeof mode !== "string") return null;
  if (UEFI.test(mode)) {
    return { changed: false, text: "the boot mode is already UEFI (BootSourceOverrideMode=UEFI)" };
  }
  const allowed = boot["BootSourceOverrideMode@Redfish.AllowableValues"];
  const value = Array.isArray(allowed) ? allowed.find((each) => UEFI.test(String(each))) : "UEFI";
  if (value === undefined) return null;
  try {
    await bmc.patch(path, { Boot: { BootSourceOverrideMode: value } });
  } catch (error) {
    if (has_attribute && error instanceof BmcFault && [400, 403, 405, 501].includes(error.status ?? 0)) return null;
    throw error;
  }
  return { changed: true, text: `the boot mode is now UEFI (BootSourceOverrideMode=${String(value)})` };
}
