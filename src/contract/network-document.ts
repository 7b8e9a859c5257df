// The network document: what one node applies for one VPC. A node gets a document for each VPC of which it hosts a NIC
// or a NAT gateway. The whole document is applied or none of it. Addresses and blocks are in canonical form (RFC 5952).
import { z } from "zod";
import { FIREWALL_ACTIONS, FIREWALL_DIRECTIONS, FIREWALL_PROTOCOLS } from "./enums.ts";
import { IcmpTypeCode, PortRange } from "./network.ts";

/** The format of the documents below. A node refuses a document of another format, and keeps what it has applied. */
export const NETWORK_DOCUMENT_FORMAT = 1;

const addresses = { ipv4: z.string().nullable(), ipv6: z.string().nullable() };
const underlay_address = z.string().describe("IPv4 address of the node on the underlay");

/** The target of a route on this node. The target `virtual_gateway` needs no route and is left out. */
export const DocumentRouteTarget = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("blackhole") }),
  z.object({ kind: z.literal("reject") }),
  z.object({ kind: z.literal("nat_gateway"), underlay_address }),
]);
export type DocumentRouteTarget = z.infer<typeof DocumentRouteTarget>;

/** A route of a subnet. */
export const DocumentRoute = z.object({ destination: z.string(), target: DocumentRouteTarget });
export type DocumentRoute = z.infer<typeof DocumentRoute>;

/** A subnet of the VPC with the routes of its table. */
export const DocumentSubnet = z.object({
  subnet_id: z.string(),
  ipv4_block: z.string().nullable(),
  ipv6_block: z.string().nullable(),
  gateway_ipv4: z.string().nullable().describe("The first address of the IPv4 block; the router has it on every node"),
  routes: z.array(DocumentRoute),
});
export type DocumentSubnet = z.infer<typeof DocumentSubnet>;

/** A NIC whose instance is on this node. */
export const LocalNic = z.object({
  nic_id: z.string(),
  subnet_id: z.string(),
  mac: z.string(),
  ...addresses,
  floating_ips: z.array(z.string()),
  connections_max: z.number().int().nullable().describe("Open connections of the NIC; null is unlimited"),
});
export type LocalNic = z.infer<typeof LocalNic>;

/** A NIC of the VPC whose instance is on another node. */
export const RemoteNic = z.object({ ...addresses, underlay_address });
export type RemoteNic = z.infer<typeof RemoteNic>;

/** A firewall rule. Null fields match everything. */
export const DocumentRule = z.object({
  rule_id: z.string(),
  priority: z.number().int(),
  direction: z.enum(FIREWALL_DIRECTIONS),
  action: z.enum(FIREWALL_ACTIONS),
  protocol: z.enum(FIREWALL_PROTOCOLS),
  source_cidr: z.string().nullable(),
  destination_cidr: z.string().nullable(),
  source_ports: PortRange.nullable(),
  destination_ports: PortRange.nullable(),
  icmp_type_code: IcmpTypeCode.nullable(),
});
export type DocumentRule = z.infer<typeof DocumentRule>;

/** The external network of the VPC's gateways and floating IPs on this node. */
export const DocumentExternal = z.object({
  bridge: z.string().describe("The node's bridge of the NIC tag"),
  gateway_ipv4: z.string().nullable(),
  gateway_ipv6: z.string().nullable(),
});
export type DocumentExternal = z.infer<typeof DocumentExternal>;

/** The document of one VPC for one node. */
export const NetworkDocument = z.object({
  format: z.literal(NETWORK_DOCUMENT_FORMAT),
  vpc_id: z.string(),
  vni: z.number().int(),
  generation: z.number().int(),
  mtu: z.number().int().describe("MTU inside the VPC, in bytes"),
  blocks: z.array(z.string()),
  subnets: z.array(DocumentSubnet),
  local_nics: z.array(LocalNic),
  remote_nics: z.array(RemoteNic),
  nat_gateways: z.array(z.object({ nat_gateway_id: z.string(), public_address: z.string() })).describe(
    "The NAT gateways that this node hosts",
  ),
  external: DocumentExternal.nullable().describe("Null unless this node has a gateway or a floating IP of the VPC"),
  firewall_rules: z.array(DocumentRule),
});
export type NetworkDocument = z.infer<typeof NetworkDocument>;
