// Computes the names and addresses of a VPC's router on a node. They depend only on the node's underlay address, the
// VNI and the MACs of NICs, so a node need not ask other nodes for them.
import { formatIp, parseIp } from "../../src/lib/net/ip-address.ts";

/** The MAC of the router on every tap of every node. An instance that moves keeps its gateway's ARP entry. */
export const GATEWAY_MAC = "02:be:00:00:00:01";
/** The router's link-local address on every tap: the IPv6 gateway of all instances. */
export const GATEWAY_IPV6 = "fe80::1";
/** The metadata service's IPv4 address, on the loopback device of every router. */
export const METADATA_IPV4 = "169.254.169.254";
/** The metadata service's IPv6 address. Routers also answer DNS queries on both addresses of the metadata service. */
export const METADATA_IPV6 = "fd00:ec2::254";
/** The UDP port of VXLAN (RFC 7348). */
export const VXLAN_PORT = 4789;
/** The bytes that VXLAN adds to a packet: outer IPv4 20, UDP 8, VXLAN 8, inner Ethernet 14. */
export const VXLAN_OVERHEAD_BYTES = 50;

/** The prefix of the name of a router's namespace; the VNI follows. */
export const ROUTER_PREFIX = "berth-";
/** The router's device towards the other nodes. */
export const OVERLAY_DEVICE = "vx";
/** The router's device towards the external network. */
export const EXTERNAL_DEVICE = "xt";
/** If the external network is a VLAN: the end of the veth pair on which EXTERNAL_DEVICE is built. */
export const EXTERNAL_CABLE = "xv";

/** Returns the name of a NIC's tap. Its 13 characters are below the kernel's limit of 15. */
export function tapName(mac: string): string {
  return `t${mac.replaceAll(":", "")}`;
}

/** Returns the MAC of a node's routers on the overlay. */
export function routerMac(underlay_address: string): string {
  return ["02", "be", ...octets(underlay_address)].join(":");
}

/** Returns the link-local address of a node's routers on the overlay. */
export function routerAddress(underlay_address: string): string {
  const [a, b, c, d] = octets(underlay_address);
  // formatIp returns the same text as the kernel prints, so that the two can be compared.
  return formatIp(parseIp(`fe80::be:${a}${b}:${c}${d}`)!);
}

function octets(address: string): string[] {
  const ip = parseIp(address);
  if (ip === null || ip.family !== 4) throw new Error(`${address} is not an IPv4 address of an underlay`);
  return address.split(".").map((octet) => Number(octet).toString(16).padStart(2, "0"));
}
