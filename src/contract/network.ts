// Defines the schemas of tenants' overlay networks (docs/networking.md). Each object except a floating IP names its
// parent in two keys with the same UUID, for example vpc and vpc_id.
import { z } from "zod";
import { Timestamp, Uuid, withDefault } from "./common.ts";
import {
  ADDRESS_FAMILIES,
  FIREWALL_ACTIONS,
  FIREWALL_DIRECTIONS,
  FIREWALL_PROTOCOLS,
  REALIZATION_STATUSES,
  ROUTE_TARGET_KINDS,
  SUBNET_KINDS,
} from "./enums.ts";
import { Labels, LabelsPatch, NewLabels } from "./labels.ts";
import {
  FIREWALL_PRIORITY_MAX,
  ICMP_NUMBER_MAX,
  PORT_MAX,
  REALIZATIONS_IN_LIST_MAX,
  REALIZATIONS_MAX,
} from "./limits.ts";
import { Description, ResourceName } from "./tenancy.ts";

const described = { name: ResourceName, description: withDefault(Description, "") };
const blocks = {
  ipv4_block: z.cidrv4().nullish().describe("Host bits are dropped"),
  ipv6_block: z.cidrv6().nullish().describe("Host bits are dropped"),
};
const owned = { id: z.string(), tenant_id: z.string(), project_id: z.string() };
const ofVpc = { ...owned, vpc_id: z.string(), vpc: z.string() };
const text = { name: z.string(), description: z.string() };
const labeled = { ...text, labels: Labels };
const withLabels = { ...described, labels: withDefault(NewLabels, {}) };

/** The last report of one node about a VPC's network. */
export const Realization = z.object({
  realizer: z.object({ kind: z.literal("cn"), id: z.string() }),
  generation: z.number().int().describe("The newest generation that the node reported"),
  status: z.enum(REALIZATION_STATUSES).nullable().describe("Null until the node has reported"),
  last_reported_at: Timestamp.nullable(),
  message: z.string().nullable().describe("Why the node could not apply the generation"),
});
export type Realization = z.infer<typeof Realization>;

/**
 * How far the nodes have applied the network of the VPC. Each commit that changes the VPC's network documents raises
 * the desired generation. An object is in effect when the applied generation has reached the desired generation.
 */
export const Realized = z.object({
  desired_generation: z.number().int(),
  applied_generation: z.number().int().nullable().describe(
    "The lowest of the generations that the object's nodes have applied; null while one of these nodes has applied " +
      "none",
  ),
  nodes: z.number().int().describe("How many nodes must apply the network"),
  nodes_pending: z.number().int().describe("How many of the nodes have not applied the desired generation"),
  realizations: z.array(Realization).describe(
    `The reports of at most ${REALIZATIONS_MAX} nodes, or of ${REALIZATIONS_IN_LIST_MAX} in each item of a list; ` +
      "nodes that have not applied the desired generation are first",
  ),
});
export type Realized = z.infer<typeof Realized>;
const realized = Realized.nullable().describe("Null in the answer to a write without Prefer: wait");

/** A private network of a tenant. A block is null if the VPC has no block of its family. */
export const Vpc = z.object({
  ...owned,
  project: z.string(),
  main_route_table_id: z.string(),
  ...labeled,
  vni: z.number().int().describe("The VPC's network identifier in VXLAN (VNI), unique on the site"),
  ipv4_block: z.string().nullable(),
  ipv6_block: z.string().nullable(),
  realized,
  created_at: Timestamp,
});
export type Vpc = z.infer<typeof Vpc>;
/** The body that creates a VPC, with at least one block. */
export const VpcBody = z.strictObject({ ...withLabels, ...blocks });
export type VpcBody = z.infer<typeof VpcBody>;

/** A subnet: a part of a VPC's blocks. The NIC tag, VLAN and ranges are null unless the subnet is external. */
export const Subnet = z.object({
  ...ofVpc,
  route_table_id: z.string(),
  ...labeled,
  ipv4_block: z.string().nullable(),
  ipv6_block: z.string().nullable(),
  kind: z.enum(SUBNET_KINDS),
  nic_tag: z.string().nullable(),
  vlan_id: z.number().int().nullable(),
  provision_start_ipv4: z.string().nullable(),
  provision_end_ipv4: z.string().nullable(),
  provision_start_ipv6: z.string().nullable(),
  provision_end_ipv6: z.string().nullable(),
  realized,
  created_at: Timestamp,
});
export type Subnet = z.infer<typeof Subnet>;
/**
 * The body that creates a subnet, with at least one block. Its blocks must be inside the VPC's blocks and must not
 * overlap other subnets.
 */
export const SubnetBody = z.strictObject({ ...withLabels, ...blocks });
export type SubnetBody = z.infer<typeof SubnetBody>;
/** The body that associates a subnet with another route table of its VPC. */
export const SubnetRouteTableBody = z.strictObject({ route_table_id: Uuid });

/**
 * A NAT gateway. In the packets that a route sends to the gateway, the gateway's public address replaces the source
 * address.
 */
export const NatGateway = z.object({
  ...ofVpc,
  project: z.string(),
  ...labeled,
  family: z.enum(ADDRESS_FAMILIES),
  public_address: z.string(),
  network_id: z.string().nullable().describe("The external subnet of its address; null for a fixed pool"),
  external_nic_tag: z.string().nullable().describe("The NIC tag of the external subnet; null for a fixed pool"),
  edge_cluster_id: z.string().nullable(),
  desired_generation: z.number().int(),
  host_cn_uuid: z.string().nullable().describe("The edge node that runs the gateway; null while no node is chosen"),
  counts: z.object({
    connections: z.number().int().describe("Connections that instances began through the gateway"),
    counted_at: Timestamp.describe("When a node last reported a change"),
  }).nullable().describe(
    "Sums of the counters that the gateway's nodes last reported, at most about two minutes ago. The counters of a " +
      "node begin at 0 again when the node starts. Null: no node has reported yet, or this is the answer to a write",
  ),
  realized,
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type NatGateway = z.infer<typeof NatGateway>;
/** The body that creates a NAT gateway. At most one of network_id and pool_id selects the address. */
export const NatGatewayBody = z.strictObject({
  ...withLabels,
  family: z.enum(ADDRESS_FAMILIES).nullish().describe(
    "The family of the address. Without network_id and pool_id, the address is from the fixed pool of the family, and " +
      "the default is v4",
  ),
  network_id: Uuid.nullish().describe("Takes an address from this external subnet"),
  pool_id: Uuid.nullish().describe(
    "Takes an address from the first external subnet of this pool that has a free address",
  ),
});
export type NatGatewayBody = z.infer<typeof NatGatewayBody>;

/** A public address that can be attached to a NIC and moved to another NIC. */
export const FloatingIp = z.object({
  ...owned,
  ...labeled,
  address: z.string(),
  family: z.enum(ADDRESS_FAMILIES),
  attached_to: z.string().nullable().describe("The NIC to which the floating IP is attached"),
  attached_instance_id: z.string().nullable(),
  network_id: z.string().nullable().describe("The external subnet of its address; null for a fixed pool"),
  external_nic_tag: z.string().nullable().describe("The NIC tag of the external subnet; null for a fixed pool"),
  hosted_cn: z.string().nullable(),
  realized: Realized.nullable().describe(
    "Null while the floating IP is attached to no NIC, and in the answer to a write",
  ),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type FloatingIp = z.infer<typeof FloatingIp>;
/** The body that creates a floating IP. Exactly one of family, network_id and pool_id is required. */
export const FloatingIpBody = z.strictObject({
  ...withLabels,
  family: z.enum(ADDRESS_FAMILIES).nullish().describe("Takes an address from the fixed pool of this family"),
  network_id: Uuid.nullish().describe("Takes an address from this external subnet"),
  pool_id: Uuid.nullish().describe(
    "Takes an address from the first external subnet of this pool that has a free address",
  ),
});
export type FloatingIpBody = z.infer<typeof FloatingIpBody>;
/** The NIC to attach a floating IP to. */
export const FloatingIpAttachBody = z.strictObject({ nic_id: Uuid.describe("A NIC of the same project") });

/** A table of routes that subnets share. Every VPC has one main table. */
export const RouteTable = z.object({
  ...ofVpc,
  project: z.string(),
  ...labeled,
  is_main: z.boolean(),
  created_at: Timestamp,
});
export type RouteTable = z.infer<typeof RouteTable>;
/** The body that creates a route table. */
export const RouteTableBody = z.strictObject(withLabels);

/**
 * The target of a route: drops packets, rejects them with an error, or sends them to the VPC's router, a NAT gateway or
 * a floating IP.
 */
export const RouteTarget = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal(ROUTE_TARGET_KINDS[0]) }),
  z.strictObject({ kind: z.literal(ROUTE_TARGET_KINDS[1]) }),
  z.strictObject({ kind: z.literal(ROUTE_TARGET_KINDS[2]) }),
  z.strictObject({ kind: z.literal(ROUTE_TARGET_KINDS[3]), nat_gateway_id: Uuid }),
  z.strictObject({ kind: z.literal(ROUTE_TARGET_KINDS[4]), floating_ip_id: Uuid }),
]);
export type RouteTarget = z.infer<typeof RouteTarget>;

/**
 * A route: a destination in a route table, and its target. `destination` is in canonical form, with the host bits
 * dropped.
 */
export const Route = z.object({
  ...ofVpc,
  route_table_id: z.string(),
  route_table: z.string(),
  ...labeled,
  destination: z.string().describe("A CIDR block"),
  target: RouteTarget,
  realized,
  created_at: Timestamp,
});
export type Route = z.infer<typeof Route>;
/** The body that creates a route. */
export const RouteBody = z.strictObject({
  ...withLabels,
  destination: z.union([z.cidrv4(), z.cidrv6()]).describe("A CIDR block; host bits are dropped"),
  target: RouteTarget,
});
export type RouteBody = z.infer<typeof RouteBody>;

const port = z.number().int().min(0).max(PORT_MAX);
/** A range of TCP or UDP ports, both ends included. */
export const PortRange = z.strictObject({ low: port, high: port });
export type PortRange = z.infer<typeof PortRange>;
const icmp_number = z.number().int().min(0).max(ICMP_NUMBER_MAX);
/** The type and the code of an ICMP message. */
export const IcmpTypeCode = z.strictObject({ type: icmp_number, code: icmp_number });
export type IcmpTypeCode = z.infer<typeof IcmpTypeCode>;
const network = z.union([z.cidrv4(), z.cidrv6()]);
const priority = z.number().int().min(0).max(FIREWALL_PRIORITY_MAX);

/** One firewall rule of a VPC. Null fields match everything. */
export const FirewallRule = z.object({
  ...ofVpc,
  project: z.string(),
  ...labeled,
  priority: z.number().int(),
  direction: z.enum(FIREWALL_DIRECTIONS),
  action: z.enum(FIREWALL_ACTIONS),
  protocol: z.enum(FIREWALL_PROTOCOLS),
  source_cidr: z.string().nullable(),
  destination_cidr: z.string().nullable(),
  source_ports: PortRange.nullable(),
  destination_ports: PortRange.nullable(),
  icmp_type_code: IcmpTypeCode.nullable(),
  counts: z.object({
    packets: z.number().int().describe(
      "Packets that the rule decided about. A rule decides about the first packet of each connection",
    ),
    bytes: z.number().int().describe("Bytes of these packets"),
    counted_at: Timestamp.describe("When a node last reported a change"),
  }).nullable().describe(
    "Sums of the counters that the nodes last reported, at most about two minutes ago. The counters of a node begin " +
      "at 0 again when the node starts. Null: no node has reported yet, or this is the answer to a write",
  ),
  realized,
  created_at: Timestamp,
});
export type FirewallRule = z.infer<typeof FirewallRule>;
/** The body that creates a rule. Missing fields match everything. */
export const FirewallRuleBody = z.strictObject({
  ...withLabels,
  priority: priority.describe("Rules with higher priority are evaluated first"),
  direction: z.enum(FIREWALL_DIRECTIONS),
  action: z.enum(FIREWALL_ACTIONS),
  protocol: withDefault(z.enum(FIREWALL_PROTOCOLS), "any"),
  source_cidr: network.nullish(),
  destination_cidr: network.nullish(),
  source_ports: PortRange.nullish(),
  destination_ports: PortRange.nullish(),
  icmp_type_code: IcmpTypeCode.nullish(),
});
export type FirewallRuleBody = z.infer<typeof FirewallRuleBody>;

const orAny = "Null: the rule matches every value";
/** The body that changes a rule. Missing fields stay unchanged. */
export const FirewallRulePatch = z.strictObject({
  name: ResourceName.nullish(),
  description: Description.nullish(),
  labels: LabelsPatch.nullish(),
  priority: priority.nullish(),
  direction: z.enum(FIREWALL_DIRECTIONS).nullish(),
  action: z.enum(FIREWALL_ACTIONS).nullish(),
  protocol: z.enum(FIREWALL_PROTOCOLS).nullish(),
  source_cidr: network.nullish().describe(orAny),
  destination_cidr: network.nullish().describe(orAny),
  source_ports: PortRange.nullish().describe(orAny),
  destination_ports: PortRange.nullish().describe(orAny),
  icmp_type_code: IcmpTypeCode.nullish().describe(orAny),
});
export type FirewallRulePatch = z.infer<typeof FirewallRulePatch>;
