// Reads and reports the NIC tags of this machine. Each tag names a network to which the machine is connected. Gateways
// and floating IPs need a tag with a bridge.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { NicTagReport } from "../src/contract/external-network.ts";
import { DEVICE_NAME } from "../src/lib/net/device-name.ts";
import { usageFailure } from "../cli/internal/failure.ts";
import type { Agent } from "./agent.ts";
import type { Loop } from "./reports.ts";

export type NicTag = { readonly name: string; readonly bridge: string | null };

const DEVICES = "/sys/class/net";

/**
 * Parses a comma-separated list of `NAME` and `NAME:BRIDGE`. Throws a usage Failure if the list is malformed or has a
 * name twice.
 */
export function parseNicTags(text: string): readonly NicTag[] {
  const tags = text.split(",").filter((each) => each !== "").map((each) => {
    const [name = "", bridge = null, ...more] = each.split(":");
    if (name === "" || more.length > 0) throw usageFailure(`--nic-tags: ${each} is not NAME or NAME:BRIDGE`);
    if (bridge !== null && !DEVICE_NAME.test(bridge)) {
      throw usageFailure(`--nic-tags: ${bridge} is not the name of a bridge`);
    }
    return { name, bridge };
  });
  const names = tags.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw usageFailure(`--nic-tags: ${twice} is listed twice`);
  return tags;
}

/**
 * Reports the tags periodically: the control plane drops tags that no operator has created, and an operator may create
 * one later.
 */
export function nicTagLoop({ nic_tags, timers }: Agent): Loop {
  return {
    name: "NIC tags",
    period_ms: timers.config_ms,
    next: async () => {
      if (nic_tags.length === 0) return null;
      const body: NicTagReport = { nic_tags: await Promise.all(nic_tags.map(reportOf)) };
      return { method: "POST", path: "/v1/agent/nic-tags", body };
    },
  };
}

async function reportOf({ name, bridge }: NicTag): Promise<NicTagReport["nic_tags"][number]> {
  if (bridge === null) return { name, physical_nic: "", vlan_id: null, mtu: null, bridge };
  const mtu = Number(await readFile(join(DEVICES, bridge, "mtu"), "utf8").catch(() => NaN));
  return {
    name,
    physical_nic: await physicalPort(bridge),
    vlan_id: null,
    mtu: Number.isSafeInteger(mtu) ? mtu : null,
    bridge,
  };
}

/**
 * Returns the port that connects the bridge to a device of the machine. Returns the bridge's name if there is no such
 * port.
 */
async function physicalPort(bridge: string): Promise<string> {
  const ports = await readdir(join(DEVICES, bridge, "brif")).catch(() => []);
  return ports.sort().find((port) => !ROUTER_PORT.test(port)) ?? bridge;
}

/** The port of a VPC's router: `x` and its VNI. */
const ROUTER_PORT = /^x\d+$/;
