// Creates the router's device in an external network: one end of a veth pair, or a VLAN device on this end. The other
// end of the pair is a port of the node's bridge.
import type { DocumentExternal } from "../../src/contract/network-document.ts";
import { EXTERNAL_CABLE, EXTERNAL_DEVICE } from "./names.ts";
import { linksOf, vlanOf } from "./observed-state.ts";

/** Ethernet's MTU in bytes. A new veth pair has this MTU. It also applies if an older server sends no MTU. */
const ETHERNET_MTU = 1_500;

export type ExternalPlace = {
  readonly vni: number;
  readonly namespace: string;
  /**
   * True if this process has not compared the router before. Then the sysctls are set: an earlier release may have set
   * others.
   */
  readonly is_first: boolean;
  /** Runs `ip` and `bridge` in the namespace of the node's own devices. */
  onHost(program: "ip" | "bridge", ...words: readonly string[]): Promise<string>;
  /** Runs a program in the router. */
  inside(...argv: readonly string[]): Promise<string>;
};

/** Returns the name of the veth pair's end at the bridge. */
export function portName(vni: number): string {
  return `x${vni}`;
}

/**
 * Creates, changes or removes the device, as the document requires.
 * @param links what `ip -j -d link` prints in the router
 * @param wanted null removes the device
 */
export async function setExternal(
  place: ExternalPlace,
  links: string,
  wanted: DocumentExternal | null,
): Promise<void> {
  const { vni, is_first, onHost, inside } = place;
  const outer = portName(vni);
  const vlan_id = wanted?.vlan_id ?? null;
  const present = vlanOf(links);
  if (present !== undefined && (wanted === null || present !== vlan_id)) await onHost("ip", "link", "del", outer);
  if (wanted === null) return;
  if (present === undefined || present !== vlan_id) await addDevice(place, outer, vlan_id);
  const mtu = wanted.mtu ?? ETHERNET_MTU;
  // A bridge lowers its own MTU to the lowest MTU of its ports, and other networks may use the same bridge. So the MTU
  // of the port is never below Ethernet's.
  const cable = ["mtu", String(Math.max(mtu, ETHERNET_MTU)), "up"];
  await onHost("ip", "link", "set", outer, "master", wanted.bridge, ...cable);
  if (vlan_id !== null) {
    await allowVlan(place, outer, { bridge: wanted.bridge, vlan_id });
    await inside("ip", "link", "set", EXTERNAL_CABLE, ...cable);
  }
  if (isUp(links, mtu) && present === vlan_id && !is_first) return;
  await inside(
    // With this setting, the ICMP errors that the kernel sends to the outside have an address of the external device as
    // their source. An example is the error about a packet that is larger than the MTU of the VPC.
    ...["sysctl", "-qw", "net.ipv4.icmp_errors_use_inbound_ifaddr=1"],
    `net.ipv4.conf.${EXTERNAL_DEVICE}.arp_ignore=1`,
    `net.ipv4.conf.${EXTERNAL_DEVICE}.arp_announce=2`,
    // The kernel announces a new IPv6 address to all neighbours, so that they find a floating IP that has moved here.
    `net.ipv6.conf.${EXTERNAL_DEVICE}.ndisc_notify=1`,
  );
  // This step comes last, so a device that is up has the sysctls.
  await inside("ip", "link", "set", EXTERNAL_DEVICE, "mtu", String(mtu), "up");
}

function isUp(links: string, mtu: number): boolean {
  return linksOf(links).some((link) =>
    link.ifname === EXTERNAL_DEVICE && link.mtu === mtu && link.flags.includes("UP")
  );
}

async function addDevice(
  { namespace, onHost, inside }: ExternalPlace,
  outer: string,
  vlan_id: number | null,
): Promise<void> {
  const inner = vlan_id === null ? EXTERNAL_DEVICE : EXTERNAL_CABLE;
  // A killed agent, or a kernel without VLANs, leaves a veth pair without the VLAN device.
  await onHost("ip", "link", "del", outer).catch(() => {});
  await onHost("ip", "link", "add", outer, "type", "veth", "peer", "name", inner, "netns", namespace);
  if (vlan_id !== null) {
    const of = ["type", "vlan", "id", String(vlan_id)];
    await inside("ip", "link", "add", "link", EXTERNAL_CABLE, "name", EXTERNAL_DEVICE, ...of);
  }
}

/**
 * Adds the VLAN to the port, if the bridge filters VLANs. Such a bridge drops frames of VLANs that its port does not
 * list.
 */
async function allowVlan(
  { onHost }: ExternalPlace,
  outer: string,
  { bridge, vlan_id }: { readonly bridge: string; readonly vlan_id: number },
): Promise<void> {
  const [link] = JSON.parse(await onHost("ip", "-j", "-d", "link", "show", "dev", bridge)) as BridgeLink[];
  if (link?.linkinfo?.info_data?.vlan_filtering === 1) {
    await onHost("bridge", "vlan", "add", "dev", outer, "vid", String(vlan_id));
  }
}

type BridgeLink = { readonly linkinfo?: { readonly info_data?: { readonly vlan_filtering?: number } } };
