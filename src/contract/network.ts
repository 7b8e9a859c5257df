// Overlay networking of tenants. Document 3, Networking; keys of document 4, 1.15. Where document 3 names a parent by its
// noun (vpc, project, route_table) and 1.15 by its id, both keys are there and hold the same UUID.
import { z } from "zod";
import { Timestamp, withDefault } from "./common.ts";
import {
  ADDRESS_FAMILIES,
  FIREWALL_ACTIONS,
  FIREWALL_DIRECTIONS,
  FIREWALL_PROTOCOLS,
  ROUTE_TARGET_KINDS,
  SUBNET_KINDS,
} from "./enums.ts";
import { FIREWALL_PRIORITY_MAX, ICMP_NUMBER_MAX, PORT_MAX } from "./limits.ts";
import { Description, ResourceName } from "./tenancy.ts";

const described = { name: ResourceName, description: withDefault(Description, "") };
const blocks = {
  ipv4_block: z.cidrv4().nullish().describe("Host bits are dropped"),
  ipv6_block: z.cidrv6().nullish().describe("Host bits are dropped"),
};
const owned = { id: z.string(), tenant_id: z.string(), project_id: z.string() };
const ofVpc = { ...owned, vpc_id: z.string(), vpc: z.string() };
const text = { name: z.string(), description: z.string() };

/** A tenant's own network. Null: it has no block of that family. */
export const Vpc = z.object({
  ...owned,
  project: z.string(),
  main_route_table_id: z.string(),
  ...text,
  vni: z.number().int().describe("Geneve VNI, unique"),
  ipv4_block: z.string().nullable(),
  ipv6_block: z.string().nullable(),
  created_at: Timestamp,
});
export type Vpc = z.infer<typeof Vpc>;
/** What makes a VPC: at least one block. */
export const VpcBody = z.strictObject({ ...described, ...blocks });
export type VpcBody = z.infer<typeof VpcBody>;

/** A part of its VPC's blocks. The tag, the VLAN and the ranges are null unless it is an external one. */
export const Subnet = z.object({
  ...ofVpc,
  route_table_id: z.string(),
  ...text,
  ipv4_block: z.string().nullable(),
  ipv6_block: z.string().nullable(),
  kind: z.enum(SUBNET_KINDS),
  nic_tag: z.string().nullable(),
  vlan_id: z.number().int().nullable(),
  provision_start_ipv4: z.string().nullable(),
  provision_end_ipv4: z.string().nullable(),
  provision_start_ipv6: z.string().nullable(),
  provision_end_ipv6: z.string().nullable(),
  created_at: Timestamp,
});
export type Subnet = z.infer<typeof Subnet>;
/** What makes a subnet: at least one block, inside those of the VPC and apart from its other subnets. */
export const SubnetBody = z.strictObject({ ...described, ...blocks });
export type SubnetBody = z.infer<typeof SubnetBody>;
/** Associates a subnet with another route table of its VPC. */
export const SubnetRouteTableBody = z.strictObject({ route_table_id: z.guid() });

/** What the nodes have made of it. */
const Realized = z.object({
  desired_generation: z.number().int(),
  applied_generation: z.number().int().nullable(),
  realizations: z.array(z.unknown()),
});

/** A public address that the instances of a VPC go out by. */
export const NatGateway = z.object({
  ...ofVpc,
  project: z.string(),
  ...text,
  family: z.enum(ADDRESS_FAMILIES),
  public_address: z.string(),
  edge_cluster_id: z.string().nullable(),
  desired_generation: z.number().int(),
  realized: Realized,
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type NatGateway = z.infer<typeof NatGateway>;
/** What makes a NAT gateway; its address is chosen for it. */
export const NatGatewayBody = z.strictObject({ ...described, family: withDefault(z.enum(ADDRESS_FAMILIES), "v4") });
export type NatGatewayBody = z.infer<typeof NatGatewayBody>;

/** A public address that can be bound to a NIC and moved to another one. */
export const FloatingIp = z.object({
  ...owned,
  ...text,
  address: z.string(),
  family: z.enum(ADDRESS_FAMILIES),
  attached_to: z.string().nullable().describe("The NIC it is bound to"),
  attached_instance_id: z.string().nullable(),
  network_id: z.string().nullable().describe("The external subnet its address comes from; null for the fixed pools"),
  external_nic_tag: z.string().nullable(),
  hosted_cn: z.string().nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type FloatingIp = z.infer<typeof FloatingIp>;
/** Exactly one of the last three. */
export const FloatingIpBody = z.strictObject({
  ...described,
  family: z.enum(ADDRESS_FAMILIES).nullish().describe("Take from the fixed pool of this family"),
  network_id: z.guid().nullish().describe("Take from this external subnet"),
  pool_id: z.guid().nullish().describe("Take from the first network of this pool with room"),
});
export type FloatingIpBody = z.infer<typeof FloatingIpBody>;
/** Where a floating IP shall go. */
export const FloatingIpAttachBody = z.strictObject({ nic_id: z.guid().describe("A NIC of the same project") });

/** Routes that subnets share. Every VPC has one main table. */
export const RouteTable = z.object({
  ...ofVpc,
  project: z.string(),
  ...text,
  is_main: z.boolean(),
  created_at: Timestamp,
});
export type RouteTable = z.infer<typeof RouteTable>;
/** What makes a route table. */
export const RouteTableBody = z.strictObject(described);

/** Where packets go: nowhere, back with an error, to the VPC's own router, or out by a gateway or a floating IP. */
export const RouteTarget = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal(ROUTE_TARGET_KINDS[0]) }),
  z.strictObject({ kind: z.literal(ROUTE_TARGET_KINDS[1]) }),
  z.strictObject({ kind: z.literal(ROUTE_TARGET_KINDS[2]) }),
  z.strictObject({ kind: z.literal(ROUTE_TARGET_KINDS[3]), nat_gateway_id: z.guid() }),
  z.strictObject({ kind: z.literal(ROUTE_TARGET_KINDS[4]), floating_ip_id: z.guid() }),
]);
export type RouteTarget = z.infer<typeof RouteTarget>;

/** One destination of a route table. `destination` is canonical text, host bits dropped. */
export const Route = z.object({
  ...ofVpc,
  route_table_id: z.string(),
  route_table: z.string(),
  ...text,
  destination: z.string().describe("A network"),
  target: RouteTarget,
  created_at: Timestamp,
});
export type Route = z.infer<typeof Route>;
/** What makes a route. */
export const RouteBody = z.strictObject({
  ...described,
  destination: z.union([z.cidrv4(), z.cidrv6()]).describe("A network; host bits are dropped"),
  target: RouteTarget,
});
export type RouteBody = z.infer<typeof RouteBody>;

const port = z.number().int().min(0).max(PORT_MAX);
/** TCP or UDP ports, both ends included. */
export const PortRange = z.strictObject({ low: port, high: port });
export type PortRange = z.infer<typeof PortRange>;
const icmp_number = z.number().int().min(0).max(ICMP_NUMBER_MAX);
/** The two numbers of an ICMP message. */
export const IcmpTypeCode = z.strictObject({ type: icmp_number, code: icmp_number });
export type IcmpTypeCode = z.infer<typeof IcmpTypeCode>;
const network = z.union([z.cidrv4(), z.cidrv6()]);

/** One rule of a VPC. Null: it does not look at this. */
export const FirewallRule = z.object({
  ...ofVpc,
  project: z.string(),
  ...text,
  priority: z.number().int(),
  direction: z.enum(FIREWALL_DIRECTIONS),
  action: z.enum(FIREWALL_ACTIONS),
  protocol: z.enum(FIREWALL_PROTOCOLS),
  source_cidr: z.string().nullable(),
  destination_cidr: z.string().nullable(),
  source_ports: PortRange.nullable(),
  destination_ports: PortRange.nullable(),
  icmp_type_code: IcmpTypeCode.nullable(),
  created_at: Timestamp,
});
export type FirewallRule = z.infer<typeof FirewallRule>;
/** What makes a rule; what is left out is not looked at. */
export const FirewallRuleBody = z.strictObject({
  ...described,
  priority: z.number().int().min(0).max(FIREWALL_PRIORITY_MAX).describe("Higher evaluates first"),
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
