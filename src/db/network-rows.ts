// Defines the row types of named records and network objects, for Kysely. tables.ts lists the tables.
import type { Labels } from "../contract/labels.ts";
import type {
  AddressFamily,
  FirewallAction,
  FirewallDirection,
  FirewallProtocol,
  PlacementGroupLevel,
  PlacementGroupPolicy,
  PlacementGroupStrictness,
  PortForwardProtocol,
  RouteTargetKind,
} from "../contract/enums.ts";
import type { IcmpTypeCode, PortRange } from "../contract/network.ts";

/** Columns of named records. */
export type NamedRow = { id: string; name: string; description: string; created_at: Date };

/** Columns of records that belong to a project. */
export type OwnedRow = NamedRow & { tenant_id: string; project_id: string };

export type VpcRow = OwnedRow & {
  labels: Labels;
  main_route_table_id: string;
  vni: number;
  ipv4_block: string | null;
  ipv6_block: string | null;
};

export type SubnetRow = OwnedRow & {
  labels: Labels;
  vpc_id: string;
  route_table_id: string;
  ipv4_block: string | null;
  ipv6_block: string | null;
  vpc_ipv4_block: string | null;
  vpc_ipv6_block: string | null;
};

export type RouteTableRow = OwnedRow & { labels: Labels; vpc_id: string; is_main: boolean };

export type RouteRow = OwnedRow & {
  labels: Labels;
  vpc_id: string;
  route_table_id: string;
  destination: string;
  target_kind: Exclude<RouteTargetKind, "floating_ip">;
  nat_gateway_id: string | null;
};

export type FirewallRuleRow = OwnedRow & {
  labels: Labels;
  vpc_id: string;
  priority: number;
  direction: FirewallDirection;
  action: FirewallAction;
  protocol: FirewallProtocol;
  source_cidr: string | null;
  destination_cidr: string | null;
  source_ports: PortRange | null;
  destination_ports: PortRange | null;
  icmp_type_code: IcmpTypeCode | null;
};

export type PlacementGroupRow = OwnedRow & {
  labels: Labels;
  policy: PlacementGroupPolicy;
  level: PlacementGroupLevel;
  strictness: PlacementGroupStrictness;
};

export type PortForwardRow = OwnedRow & {
  labels: Labels;
  vpc_id: string;
  nat_gateway_id: string;
  nic_id: string;
  protocol: PortForwardProtocol;
  public_port: number;
  nic_port: number;
};

export type NatGatewayRow = OwnedRow & {
  labels: Labels;
  vpc_id: string;
  family: AddressFamily;
  public_address: string;
  network_id: string | null;
  external_nic_tag: string | null;
  pool_id: string | null;
  desired_generation: number;
  updated_at: Date;
  host_cn_uuid: string | null;
  leaving_cn_uuid: string | null;
  left_at: Date | null;
};

export type ExternalSubnetRow = NamedRow & {
  nic_tag: string;
  vlan_id: number | null;
  ipv4_block: string | null;
  ipv6_block: string | null;
  provision_start_ipv4: string | null;
  provision_end_ipv4: string | null;
  provision_start_ipv6: string | null;
  provision_end_ipv6: string | null;
  gateway_ipv4: string | null;
  gateway_ipv6: string | null;
  owner_silos: string[];
};

export type FloatingIpRow = OwnedRow & {
  labels: Labels;
  address: string;
  family: AddressFamily;
  pool_id: string;
  network_id: string | null;
  external_nic_tag: string | null;
  attached_to: string | null;
  attached_instance_id: string | null;
  hosted_cn: string | null;
  updated_at: Date;
};
