// Sets the boot target of the next start, and switches the power. Each action handles the differences between vendors.
// setOnetimeBoot never changes the boot mode.
import { type Bmc, BmcFault } from "./bmc.ts";
import { bagOf, linkOf } from "./messages.ts";
import type { System } from "./system.ts";

export const BOOT_TARGETS = ["uefi-http", "pxe"] as const;
export type BootTarget = (typeof BOOT_TARGETS)[number];
const REDFISH_TARGETS = { "uefi-http": "UefiHttp", pxe: "Pxe" } as const;

export type Pause = {
  readonly sleep: (ms: number) => Promise<void>;
  readonly limit_ms: number;
  readonly step_ms: number;
};

/** How long a BMC may take to show an accepted boot override; the emulator of sushy-tools takes up to 11 s. */
const SHOWN_MS = 15_000;

type Bag = Readonly<Record<string, unknown>>;

export async function setOnetimeBoot(
  bmc: Bmc,
  { path, body: system }: System,
  { target, boot_uri = null, pause }: {
    readonly target: BootTarget;
    /** The URI of the program. With null, the firmware gets the URI by DHCP. */
    readonly boot_uri?: string | null;
    readonly pause: Pause;
  },
): Promise<string> {
  const wanted = REDFISH_TARGETS[target];
  const allowed = bagOf(system.Boot)["BootSourceOverrideTarget@Redfish.AllowableValues"];
  if (Array.isArray(allowed) && !allowed.includes(wanted)) {
    const hint = target === "uefi-http" && allowed.includes("Pxe") ? "; try --target pxe" : "";
    throw new BmcFault(`the BMC cannot boot from ${wanted} once (it offers: ${allowed.join(", ")})${hint}`);
  }
  const uri = boot_uri === null ? {} : { HttpBootUri: boot_uri };
  const change = { Boot: { BootSourceOverrideEnabled: "Once", BootSourceOverrideTarget: wanted, ...uri } };
  const future = linkOf(bagOf(system["@Redfish.Settings"]).SettingsObject);
  let written = path;
  try {
    await bmc.patch(path, change, "scheduled");
  } catch (error) {
    // AMI's BMCs accept the change only at the settings resource.
    if (!(error instanceof BmcFault) || future === null || error.status === 401 || error.status === 403) throw error;
    await bmc.patch(future, change, "scheduled");
    written = future;
  }
  return await heldBoot(bmc, written, { wanted, boot_uri, pause });
}

/**
 * Waits until the BMC shows the boot override, because some BMCs show a change some seconds later. If the BMC shows no
 * boot override, returns a message that the BMC accepted the change but does not show the override.
 */
async function heldBoot(
  bmc: Bmc,
  path: string,
  { wanted, boot_uri, pause }: { readonly wanted: string; readonly boot_uri: string | null; readonly pause: Pause },
): Promise<string> {
  const tries = Math.max(1, Math.ceil(Math.min(pause.limit_ms, SHOWN_MS) / pause.step_ms));
  let held: Bag = {};
  for (let at = 0; at < tries; at += 1) {
    if (at > 0) await pause.sleep(pause.step_ms);
    held = bagOf((await bmc.get(path)).body.Boot);
    if (typeof held.BootSourceOverrideTarget !== "string") {
      return `the BMC accepted ${wanted} for the next start, but does not show its boot override`;
    }
    if (held.BootSourceOverrideTarget !== wanted || held.BootSourceOverrideEnabled === "Disabled") continue;
    if (boot_uri !== null && held.HttpBootUri !== boot_uri) continue;
    // The emulator of sushy-tools shows Continuous for every override.
    return held.BootSourceOverrideEnabled === "Continuous"
      ? `the next start boots from ${wanted}; the BMC shows this as permanent, so check the boot order afterwards`
      : `the next start boots from ${wanted}, once`;
  }
  if (boot_uri !== null && held.BootSourceOverrideTarget === wanted && held.HttpBootUri !== boot_uri) {
    throw new BmcFault(`the BMC did not take the boot URI: it shows ${String(held.HttpBootUri ?? "none")}`);
  }
  const hint = wanted === "UefiHttp" && held.BootSourceOverrideTarget === "Pxe" ? "; try --target pxe" : "";
  throw new BmcFault(
    `the BMC accepted the change, but its boot override is ${String(held.BootSourceOverrideTarget)} (${
      String(held.BootSourceOverrideEnabled)
    })${hint}`,
  );
}

export async function powerCycle(bmc: Bmc, { path, body: system }: System, pause: Pause): Promise<string> {
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

/** Switches the machine off at once, and waits until the BMC shows that it is off. */
export async function powerOff(bmc: Bmc, { path, body: system }: System, pause: Pause): Promise<string> {
  if (system.PowerState === "Off") return "the machine is off already";
  const { target } = bagOf(bagOf(system.Actions)["#ComputerSystem.Reset"]);
  if (typeof target !== "string") throw new BmcFault("the BMC offers no reset of the system");
  await bmc.post(target, { ResetType: "ForceOff" });
  await powered(bmc, path, { state: "Off", pause });
  return "the machine is off";
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
    const shown = await bmc.get(path).then(({ body }) => body.PowerState, (error) => {
      if (error instanceof BmcFault) return undefined;
      throw error;
    });
    if (shown === state) return;
    await pause.sleep(pause.step_ms);
  }
  throw new BmcFault(`the machine is not ${state} after ${pause.limit_ms / 1_000} s`);
}
