// The addresses by which a machine's announced inventory and its boot records are brought together:
// { "Network Interfaces": { "net0": { "MAC Address": "..." } } }. Virtual interfaces are not the machine's own.
import { canonicalMac, isMulticastMac } from "./mac.ts";
import { memberOf, membersOf } from "../text/sysinfo-member.ts";

/** What an unprogrammed or virtual card reports. It would make strangers look like one machine. */
const NO_MAC = "00:00:00:00:00:00";

/** The canonical MACs in the order of the inventory, each once. Never throws, whatever was sent. */
export function macsOf(sysinfo: unknown): string[] {
  const macs = new Set<string>();
  for (const [, nic] of membersOf(memberOf(sysinfo, "Network Interfaces"))) {
    const text = memberOf(nic, "MAC Address");
    const mac = typeof text === "string" ? canonicalMac(text.trim()) : null;
    if (mac !== null && mac !== NO_MAC && !isMulticastMac(mac)) macs.add(mac);
  }
  return [...macs];
}
