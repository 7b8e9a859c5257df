// Finds the MAC addresses in a machine's announced inventory: { "Network Interfaces": { "net0": { "MAC Address": "..."
// } } }. The machine's boot records are found by these addresses. Virtual interfaces are not included.
import { canonicalMac, isMulticastMac } from "./mac.ts";
import { memberOf, membersOf } from "../text/sysinfo-member.ts";

/** The MAC of unprogrammed network cards and of some virtual cards. Several machines may have this MAC. */
const NO_MAC = "00:00:00:00:00:00";

/**
 * Lists the canonical MACs in the order of the inventory, each once. Leaves out NO_MAC and multicast addresses. Never
 * throws.
 */
export function macsOf(sysinfo: unknown): string[] {
  const macs = new Set<string>();
  for (const [, nic] of membersOf(memberOf(sysinfo, "Network Interfaces"))) {
    const text = memberOf(nic, "MAC Address");
    const mac = typeof text === "string" ? canonicalMac(text.trim()) : null;
    if (mac !== null && mac !== NO_MAC && !isMulticastMac(mac)) macs.add(mac);
  }
  return [...macs];
}
