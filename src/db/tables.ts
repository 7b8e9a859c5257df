// The tables as Kysely sees them, named as in the migrations that make them: what reads.ts of the actors query.
import type { AdminNetwork, AllowlistEntry, Networking, Provenance, Roster } from "../contract/boot.ts";
import type {
  AddressFamily,
  BootRecordState,
  Capability,
  CnRole,
  CnState,
  FirewallAction,
  FirewallDirection,
  FirewallProtocol,
  ImageScopeKind,
  InstanceState,
  KeyScope,
  RouteTargetKind,
} from "../contract/enums.ts";
import type { Compatibility } from "../contract/image.ts";
import type { IcmpTypeCode, PortRange } from "../contract/network.ts";
import type { Reference } from "../contract/operation.ts";
import type { ScopeColumns } from "../contract/scope.ts";
import type { CnConflict, SetupProgress } from "../contract/cn.ts";
import type { SetupApproval } from "../contract/setup.ts";
import type { StepRecord } from "../../actors/saga/state.ts";

export interface Database {
  schema_migration: { number: number; name: string; sha256: string; applied_at: Date };
  cn_loaded: CnLoaded;
  cn_placement: { server_uuid: string; reservoir_enabled: boolean | null; reservoir_percent: number | null };
  site_loaded: SiteLoaded;
  boot_policy: BootPolicyRow;
  boot_record: BootRecordRow;
  boot_roster: { id: string; entries: Roster };
  staging: { staged_by: string; stamps: string[]; staged_at: Date };
  instance: { id: string; host_cn_uuid: string | null; state: InstanceState };
  api_key: ApiKeyRow;
  api_key_use: { key_id: string; last_used_at: Date };
  user_account: UserRow;
  user_loaded: UserRow & { silo_id: string | null };
  session: SessionRow;
  tenant_idp: IdpRow;
  silo: NamedRow & { default_tenant_id: string };
  tenant: NamedRow & { silo_id: string };
  project: NamedRow & { tenant_id: string };
  project_usage: { project_id: string; cpu: number; memory_bytes: number; disk_bytes: number; instances: number };
  quota: QuotaRow;
  vpc: VpcRow;
  subnet: SubnetRow;
  route_table: RouteTableRow;
  route: RouteRow;
  firewall_rule: FirewallRuleRow;
  nat_gateway: NatGatewayRow;
  floating_ip: FloatingIpRow;
  nic_tag: NamedRow & { mtu: number };
  external_subnet: ExternalSubnetRow;
  network_pool: NamedRow & { networks: string[]; owner_silos: string[] };
  image: ImageRow;
  ssh_key: SshKeyRow;
  cn_capacity: { server_uuid: string; report: unknown };
  setting: { key: string; value: { is: unknown } };
  saga: SagaRow;
  transition: { msg_id: string; actor_kind: string; actor_id: string; event: string };
}

export type CnLoaded = {
  server_uuid: string;
  state: CnState;
  hostname: string;
  role: CnRole;
  admin_ip: string | null;
  sysinfo: unknown;
  registered_at: Date;
  approved_at: Date | null;
  claim_code: string | null;
  claim_code_expires_at: Date | null;
  registration_id: string | null;
  poll_token_sha256: string | null;
  bound_api_key_id: string | null;
  pending_credential: string | null;
  ticket_keys: string | null;
  last_setup_error: string | null;
  setup_progress: SetupProgress | null;
  disk_layout: SetupApproval | null;
  macs: string[];
  conflict: CnConflict | null;
  setup_epoch: number | null;
  setup_operation_id: string | null;
  bundle_taken: boolean;
  root_password_hash: string | null;
  traits: Record<string, string>;
  bound_macs: string[];
  last_seen: Date | null;
  last_status: unknown;
  reservoir_enabled: boolean | null;
  reservoir_percent: number | null;
};

export type SiteLoaded = {
  id: string;
  state: "window_closed" | "window_open";
  window_opened_at: Date | null;
  window_expires_at: Date | null;
  window_count: number | null;
  window_opened_by: string | null;
  window_remaining: number | null;
};

/** What every record that people name has. */
type NamedRow = { id: string; name: string; description: string; created_at: Date };

export type UserRow = {
  id: string;
  username: string;
  is_root: boolean;
  tenant_id: string | null;
  password_hash: string | null;
  capabilities: Capability[];
  issuer: string | null;
  subject: string | null;
  session_epoch: number;
  created_at: Date;
};

export type SessionRow = {
  id: string;
  user_id: string;
  user_epoch: number;
  generation: number;
  created_at: Date;
  refreshed_at: Date;
  expires_at: Date;
};

export type IdpRow = {
  tenant_id: string;
  issuer_url: string;
  client_id: string;
  audience: string;
  created_at: Date;
};

export type QuotaRow = {
  project_id: string;
  tenant_id: string;
  cpu_limit: number;
  memory_bytes: number;
  disk_bytes: number;
  instance_limit: number;
  updated_at: Date;
};

/** What belongs to a project. */
type OwnedRow = NamedRow & { tenant_id: string; project_id: string };

export type VpcRow = OwnedRow & {
  main_route_table_id: string;
  vni: number;
  ipv4_block: string | null;
  ipv6_block: string | null;
};

export type SubnetRow = OwnedRow & {
  vpc_id: string;
  route_table_id: string;
  ipv4_block: string | null;
  ipv6_block: string | null;
  vpc_ipv4_block: string | null;
  vpc_ipv6_block: string | null;
};

export type RouteTableRow = OwnedRow & { vpc_id: string; is_main: boolean };

export type RouteRow = OwnedRow & {
  vpc_id: string;
  route_table_id: string;
  destination: string;
  target_kind: Exclude<RouteTargetKind, "floating_ip">;
  nat_gateway_id: string | null;
};

export type FirewallRuleRow = OwnedRow & {
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

export type NatGatewayRow = OwnedRow & {
  vpc_id: string;
  family: AddressFamily;
  public_address: string;
  desired_generation: number;
  updated_at: Date;
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
  owner_silos: string[];
};

export type FloatingIpRow = OwnedRow & {
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

export type ImageRow = NamedRow & Omit<ScopeColumns<ImageScopeKind>, "user_id"> & {
  os: string;
  os_version: string;
  size_bytes: number;
  sha256: string;
  source_url: string | null;
  compatibility: Compatibility | null;
};

export type SshKeyRow = NamedRow & ScopeColumns & { public_key: string; fingerprint: string };

export type ApiKeyRow = {
  id: string;
  user_id: string;
  description: string;
  scope: KeyScope;
  bound_to_cn: string | null;
  tenant_id: string | null;
  created_at: Date;
  expires_at: Date | null;
};

export type SagaRow = {
  id: string;
  version: number;
  state: "running" | "unwinding" | "succeeded" | "unwound" | "stuck";
  saga: string;
  params: unknown;
  refs: Reference[];
  outputs: Record<string, unknown>;
  steps: Record<string, StepRecord>;
  step: string | null;
  error: string | null;
  stuck_reason: string | null;
  created_at: Date;
  done_at: Date | null;
};

export type BootPolicyRow = {
  id: string;
  version: number;
  auto_enroll: boolean;
  allowlist: AllowlistEntry[];
  enrollment_pi: string | null;
  enrollment_kernel_args: string[];
  admin_network: AdminNetwork | null;
};

export type BootRecordRow = {
  mac: string;
  version: number;
  state: BootRecordState;
  address: string | null;
  networking: Networking | null;
  provenance: Provenance;
  server_uuid: string | null;
  assigned_pi: string | null;
  rescue: boolean;
  hostname: string | null;
  created_at: Date;
  updated_at: Date;
};
