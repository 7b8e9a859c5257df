// Defines the network document, which describes the network that one node applies for one VPC. A node gets a document
// for a VPC if it hosts a NIC or a NAT gateway of the VPC. The node applies the whole document or nothing of it.
// Addresses and blocks are in canonical form (RFC 5952).
import { z } from "zod";
import { Uuid } from "./common.ts";
import {
  FIREWALL_ACTIONS,
  FIREWALL_DIRECTIONS,
  FIREWALL_PROTOCOLS,
  PORT_FORWARD_PROTOCOLS,
  REALIZATION_STATUSES,
} from "./enums.ts";
import { NETWORK_MESSAGE_CHARS_MAX, NETWORK_VPCS_MAX, RULE_COUNTS_MAX } from "./limits.ts";
import { IcmpTypeCode, PortRange } from "./network.ts";
import { TraceQuestion } from "./network-trace.ts";

/**
 * The format of the documents below. A node refuses a document of another format, and keeps the document that it has
 * applied.
 */
export const NETWORK_DOCUMENT_FORMAT = 1;

const addresses = { ipv4: z.string().nullable(), ipv6: z.string().nullable() };
const underlay_address = z.string().describe("IPv4 address of the node on the underlay");

/** The target of a route on this node. The target `virtual_gateway` needs no route and is left out. */
export const DocumentRouteTarget = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("blackhole") }),
  z.object({ kind: z.literal("reject") }),
  z.object({
    kind: z.literal("nat_gateway"),
    underlay_address,
    nat_gateway_id: z.string().nullish().describe(
      "If the field is missing, as in documents of older servers, the node uses its first gateway of the route's " +
        "family",
    ),
  }),
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

const limit = (what: string) => z.number().int().nullable().describe(`${what}; null is unlimited`);

const further_addresses = z.array(z.string()).optional().describe(
  "The NIC's further addresses, which `blocks` also contains. Packets to them go to this NIC, even if `blocks` of " +
    "another NIC contains the same address. Missing: the NIC has none, or an older server sent the document",
);

/** A NIC whose instance is on this node. */
export const LocalNic = z.object({
  nic_id: z.string(),
  instance_id: z.string(),
  hostname: z.string().describe("The instance's name, for DHCP and metadata"),
  subnet_id: z.string(),
  mac: z.string(),
  ...addresses,
  blocks: z.array(z.string()).optional().describe(
    "The NIC's further addresses and allowed blocks. The VPC routes them to the NIC, and the guest may send from them",
  ),
  addresses: further_addresses,
  floating_ips: z.array(z.string()),
  arriving: z.boolean().describe(
    "True on the target of a migration until the instance belongs to it. Until then, the node has the NIC's tap and " +
      "the filter of the tap, but not the route",
  ),
  connections_max: limit("Open connections in each direction"),
  packets_per_second_max: limit("Packets per second in each direction").optional(),
  bytes_per_second_max: limit("Bytes of packets per second in each direction, without the Ethernet header").optional(),
});
export type LocalNic = z.infer<typeof LocalNic>;

/** A NIC of the VPC whose instance is on another node. */
export const RemoteNic = z.object({
  ...addresses,
  blocks: z.array(z.string()).optional().describe(
    "The NIC's further addresses and allowed blocks, which the VPC routes to the NIC",
  ),
  addresses: further_addresses,
  underlay_address,
});
export type RemoteNic = z.infer<typeof RemoteNic>;

/** A DNS name of the VPC: `NAME.PROJECT.internal` for the first NIC of each instance. */
export const DocumentName = z.object({ name: z.string(), ...addresses });
export type DocumentName = z.infer<typeof DocumentName>;

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
  vlan_id: z.number().int().nullish().describe("The VLAN of the external network on the bridge; null is untagged"),
  mtu: z.number().int().nullish().describe(
    "The MTU of the NIC tag, in bytes. A server of an older version sends none: then it is 1500",
  ),
  gateway_ipv4: z.string().nullable(),
  gateway_ipv6: z.string().nullable(),
});
export type DocumentExternal = z.infer<typeof DocumentExternal>;

/** A port forward: connections to this port of a NAT gateway's public address go to a NIC of the VPC. */
export const DocumentPortForward = z.object({
  protocol: z.enum(PORT_FORWARD_PROTOCOLS),
  public_port: z.number().int(),
  address: z.string().describe("The NIC's address of the gateway's family"),
  port: z.number().int(),
});
export type DocumentPortForward = z.infer<typeof DocumentPortForward>;

/** A NAT gateway that the node hosts. */
export const DocumentNatGateway = z.object({
  nat_gateway_id: z.string(),
  public_address: z.string(),
  port_forwards: z.array(DocumentPortForward).optional(),
});
export type DocumentNatGateway = z.infer<typeof DocumentNatGateway>;

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
  nat_gateways: z.array(DocumentNatGateway).describe("The NAT gateways that this node hosts"),
  external: DocumentExternal.nullable().describe("Null unless this node has a gateway or a floating IP of the VPC"),
  firewall_rules: z.array(DocumentRule),
  names: z.array(DocumentName),
  resolvers: z.array(z.string()).describe("Addresses of the DNS servers that answer for other names"),
  ntp_servers: z.array(z.string()).optional().describe(
    "Addresses of time servers for guests. A server of an older version sends none",
  ),
  peers: z.array(underlay_address).optional().describe(
    "The other nodes that host a NIC or a NAT gateway of the VPC. Only these nodes may send packets of the VPC. A " +
      "server of an older version sends none, and then every known node is accepted",
  ),
  underlay_address: underlay_address.optional().describe(
    "The address at which the other nodes reach this node. If the field is missing, as in documents of older " +
      "servers, the node uses its own address",
  ),
});
export type NetworkDocument = z.infer<typeof NetworkDocument>;

const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
/** Counters of a firewall rule or a NAT gateway on one node. They begin at 0 when the node creates the VPC's router. */
export const RuleCount = z.object({
  rule_id: Uuid.describe("The id of the rule or the NAT gateway"),
  packets: count.describe("First packets of connections"),
  bytes: count.describe("Bytes of these packets"),
});
export type RuleCount = z.infer<typeof RuleCount>;

/** A poll of a node, with the generations that the node has stored, by VPC. */
export const NetworkPollBody = z.object({
  wait: z.number().int().min(0).describe(
    "The longest wait for a change, in seconds. The server shortens a value that is too large",
  ),
  have: z.record(Uuid, z.number().int()).describe(
    "The generation of each stored document, by VPC id. If a VPC is missing here, the node stores no document of the " +
      "VPC and has removed everything of the VPC",
  ).refine((have) => Object.keys(have).length <= NETWORK_VPCS_MAX, `a node has at most ${NETWORK_VPCS_MAX} VPCs`),
  counts: z.array(RuleCount).max(RULE_COUNTS_MAX).nullish().describe(
    "Counters of firewall rules and NAT gateways that changed since the node's last report. The server ignores " +
      "unknown ids",
  ),
  traces: z.boolean().nullish().describe("Whether the agent answers traces, which ask where a packet stops"),
});
export type NetworkPollBody = z.infer<typeof NetworkPollBody>;

/** The answer to a poll: the changes for the node. `vpcs` and `gone` are empty after a wait without a change. */
export const NetworkPollView = z.object({
  nodes: z.array(underlay_address).describe("Every node that may send packets of VPCs to this node"),
  vpcs: z.array(NetworkDocument).describe("The documents that are newer than the stored ones"),
  gone: z.array(z.string()).describe(
    "VPCs of which the node no longer hosts anything. The node removes these VPCs, and omits them from `have` in " +
      "its next poll",
  ),
  traces: z.array(TraceQuestion).optional().describe(
    "Open traces. The node answers each with POST /v1/agent/network/trace",
  ),
});
export type NetworkPollView = z.infer<typeof NetworkPollView>;

/**
 * A node's report about a generation of a VPC's document. `message` gives the reason if the node could not apply it.
 */
export const NetworkRealizationBody = z.object({
  resource: z.object({ kind: z.literal("vpc"), id: Uuid }),
  realizer: z.object({ kind: z.literal("cn"), id: Uuid }),
  generation: z.number().int().min(0),
  status: z.enum(REALIZATION_STATUSES),
  message: z.string().max(NETWORK_MESSAGE_CHARS_MAX).nullish(),
});
export type NetworkRealizationBody = z.infer<typeof NetworkRealizationBody>;
