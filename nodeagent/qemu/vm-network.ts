// Creates the network namespace of a VM, with one tap for each NIC. QEMU runs in this namespace. So a guest that takes
// over its QEMU cannot connect to any address of the node.
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { confinementName } from "./launch-argv.ts";
import { runProgram } from "./run-program.ts";
import { tapName } from "./tap-name.ts";
import type { VmRecord } from "./vm-record.ts";

/** Folder in which `ip netns` keeps the names of namespaces. */
const NAMESPACES = "/run/netns";

/** Creates the namespace and the taps that are missing. */
export async function createNetwork({ id, uid, nics }: Pick<VmRecord, "id" | "uid" | "nics">): Promise<void> {
  const name = confinementName(id);
  if (!await isUsable(name)) {
    // `ip netns add` creates the name, then mounts the namespace on it. A crash in between leaves an unusable name.
    await runProgram(["ip", "netns", "delete", name]).catch(() => {});
    await runProgram(["ip", "netns", "add", name]);
  }
  for (const { mac } of nics) {
    const tap = tapName(mac);
    const is_present = await runProgram(["ip", "-n", name, "link", "show", "dev", tap]).then(() => true, () => false);
    if (is_present) continue;
    await runProgram(["ip", "-n", name, "tuntap", "add", "dev", tap, "mode", "tap", "user", String(uid)]);
    await runProgram(["ip", "-n", name, "link", "set", "dev", tap, "up"]);
  }
}

/** Removes the namespace with its taps. */
export async function removeNetwork(id: string): Promise<void> {
  const name = confinementName(id);
  if (await exists(name)) await runProgram(["ip", "netns", "delete", name]);
}

async function isUsable(name: string): Promise<boolean> {
  if (!await exists(name)) return false;
  return await runProgram(["ip", "-n", name, "link", "show", "dev", "lo"]).then(() => true, () => false);
}

async function exists(name: string): Promise<boolean> {
  return await stat(join(NAMESPACES, name)).then(() => true, () => false);
}
