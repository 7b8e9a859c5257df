// Records of one project in the form that the control plane returns: a network, an instance, its disk and its NIC.
import type { Disk, Instance, Nic } from "../../../src/contract/instance.ts";
import type {
  FirewallRule,
  FloatingIp,
  NatGateway,
  Route,
  RouteTable,
  Subnet,
  Vpc,
} from "../../../src/contract/network.ts";
import type { PortForward } from "../../../src/contract/port-forward.ts";

export const TENANT = "aaaaaaaa-0000-4000-8000-000000000001";
export const PROJECT = "bbbbbbbb-0000-4000-8000-000000000002";
export const NIC = "cccccccc-0000-4000-8000-000000000003";
const created_at = "2026-11-21T10:00:00.000Z";
const updated_at = created_at;

export const VPC = {
  id: "11111111-0000-4000-8000-000000000011",
  tenant_id: TENANT,
  project_id: PROJECT,
  project: PROJECT,
  main_route_table_id: "55555555-0000-4000-8000-000000000055",
  name: "web",
  labels: {},
  description: "front",
  vni: 4_711,
  ipv4_block: "10.0.0.0/16",
  ipv6_block: null,
  realized: null,
  created_at,
} as const satisfies Vpc;

const ofVpc = { tenant_id: TENANT, project_id: PROJECT, vpc_id: VPC.id, vpc: VPC.id };

export const ROUTE_TABLE = {
  ...ofVpc,
  id: VPC.main_route_table_id,
  project: PROJECT,
  name: "main",
  labels: {},
  description: "main of web",
  is_main: true,
  created_at,
} as const satisfies RouteTable;

export const SUBNET = {
  ...ofVpc,
  id: "22222222-0000-4000-8000-000000000022",
  route_table_id: ROUTE_TABLE.id,
  name: "dmz",
  labels: {},
  description: "",
  ipv4_block: "10.0.1.0/24",
  ipv6_block: null,
  kind: "internal",
  nic_tag: null,
  vlan_id: null,
  provision_start_ipv4: null,
  provision_end_ipv4: null,
  provision_start_ipv6: null,
  provision_end_ipv6: null,
  realized: null,
  created_at,
} as const satisfies Subnet;

export const NAT_GATEWAY = {
  ...ofVpc,
  id: "33333333-0000-4000-8000-000000000033",
  project: PROJECT,
  name: "egress",
  labels: {},
  description: "",
  family: "v4",
  public_address: "203.0.113.2",
  network_id: null,
  external_nic_tag: null,
  edge_cluster_id: null,
  counts: null,
  desired_generation: 1,
  host_cn_uuid: null,
  realized: null,
  created_at,
  updated_at,
} satisfies NatGateway;

export const FLOATING_IP = {
  id: "44444444-0000-4000-8000-000000000044",
  tenant_id: TENANT,
  project_id: PROJECT,
  name: "www",
  description: "",
  labels: {},
  address: "203.0.113.3",
  family: "v4",
  attached_to: null,
  attached_instance_id: null,
  network_id: null,
  external_nic_tag: null,
  hosted_cn: null,
  realized: null,
  created_at,
  updated_at,
} as const satisfies FloatingIp;

export const ROUTE = {
  ...ofVpc,
  id: "66666666-0000-4000-8000-000000000066",
  route_table_id: ROUTE_TABLE.id,
  route_table: ROUTE_TABLE.id,
  name: "default",
  labels: {},
  description: "out",
  destination: "0.0.0.0/0",
  target: { kind: "nat_gateway", nat_gateway_id: NAT_GATEWAY.id },
  realized: null,
  created_at,
} as const satisfies Route;

export const FIREWALL_RULE = {
  ...ofVpc,
  id: "77777777-0000-4000-8000-000000000077",
  project: PROJECT,
  name: "http",
  description: "",
  labels: {},
  priority: 100,
  direction: "inbound",
  action: "allow",
  protocol: "tcp",
  source_cidr: null,
  destination_cidr: "10.0.1.0/24",
  source_ports: null,
  destination_ports: { low: 80, high: 443 },
  icmp_type_code: null,
  counts: null,
  realized: null,
  created_at,
} as const satisfies FirewallRule;

export const PORT_FORWARD = {
  ...ofVpc,
  id: "7a7a7a7a-0000-4000-8000-00000000007a",
  project: PROJECT,
  name: "https",
  labels: {},
  description: "",
  nat_gateway_id: NAT_GATEWAY.id,
  nic_id: "7b7b7b7b-0000-4000-8000-00000000007b",
  protocol: "tcp",
  public_port: 443,
  nic_port: 8_443,
  realized: null,
  created_at,
} as const satisfies PortForward;

export const IMAGE_ID = "88888888-0000-4000-8000-000000000088";

export const INSTANCE = {
  id: "99999999-0000-4000-8000-000000000099",
  tenant_id: TENANT,
  project_id: PROJECT,
  name: "web-1",
  description: "",
  labels: {},
  deletion_protection: false,
  placement_group_id: null,
  brand: "bhyve",
  cpu: 2,
  memory_bytes: 4_294_967_296,
  image_id: IMAGE_ID,
  primary_subnet_id: SUBNET.id,
  ssh_key_ids: [],
  host_cn_uuid: "eeeeeeee-0000-4000-8000-0000000000ee",
  host_live: true,
  found_on_host: true,
  lifecycle: { state: "running" },
  created_at,
  updated_at,
} as const satisfies Instance;

const ofInstance = { tenant_id: TENANT, project_id: PROJECT, instance_id: INSTANCE.id };

export const DISK = {
  ...ofInstance,
  id: "dddddddd-0000-4000-8000-0000000000dd",
  instance: INSTANCE.id,
  name: "boot",
  description: "",
  labels: {},
  kind: "boot",
  size_bytes: 21_474_836_480,
  applied_bytes: 21_474_836_480,
  attached: true,
  source_image_id: IMAGE_ID,
  created_at,
} as const satisfies Disk;

export const PRIMARY_NIC = {
  ...ofInstance,
  id: NIC,
  vpc_id: VPC.id,
  subnet_id: SUBNET.id,
  name: "primary",
  labels: {},
  mac: "02:08:20:00:00:01",
  primary_ipv4: "10.0.1.2",
  primary_ipv6: null,
  additional_ips: [],
  allowed_cidrs: [],
  floating_ips: [],
  realized: null,
  created_at,
} as const satisfies Nic;
