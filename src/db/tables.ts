// Defines the tables and their columns for Kysely, named as in the migrations. The actors' reads.ts files query them.
import type {
  AdminNetwork,
  AllowlistEntry,
  BootConsole,
  LabelArguments,
  Networking,
  Provenance,
  RackNetwork,
  Roster,
} from "../contract/boot.ts";
import type {
  BootRecordState,
  Capability,
  CnRole,
  CnState,
  KeyScope,
  PlatformKind,
  SessionKind,
} from "../contract/enums.ts";
import type { Hardware } from "../contract/hardware.ts";
import type { Labels } from "../contract/labels.ts";
import type { Reference } from "../contract/operation.ts";
import type { CnConflict, SetupProgress } from "../contract/cn.ts";
import type { CnPlacementRules } from "../contract/cn-placement.ts";
import type { SetupApproval, SetupDelivery } from "../contract/setup.ts";
import type { BootClientFacts } from "../lib/net/boot-client.ts";
import type { ClaimSummary } from "../../actors/cn/state.ts";
import type { ConsoleSessionState } from "../../actors/console-session/state.ts";
import type { EnrolmentClaimState } from "../../actors/enrolment-claim/state.ts";
import type { ImageUploadState } from "../../actors/image-upload/state.ts";
import type { StepRecord } from "../../actors/saga/state.ts";
import type { DiskRow, ImageRow, InstanceRow, JobRow, LoadRow, MetricsRow, NicRow, SshKeyRow } from "./compute-rows.ts";
import type {
  ExternalSubnetRow,
  FirewallRuleRow,
  FloatingIpRow,
  NamedRow,
  NatGatewayRow,
  PlacementGroupRow,
  PortForwardRow,
  RouteRow,
  RouteTableRow,
  SubnetRow,
  VpcRow,
} from "./network-rows.ts";

export type * from "./compute-rows.ts";
export type * from "./network-rows.ts";

export interface Database {
  schema_migration: { number: number; name: string; sha256: string; applied_at: Date };
  cn: { server_uuid: string; hostname: string };
  cn_loaded: CnLoaded;
  enrolment_claim: EnrolmentClaimRow;
  cn_placement: {
    server_uuid: string;
    reservoir_enabled: boolean | null;
    reservoir_percent: number | null;
    labels: Labels;
  };
  cn_hardware: { server_uuid: string; hardware: Hardware; read_at: Date; read_by: string };
  cn_usage: { server_uuid: string; cpu_units: number; ram_mb: number; disk_bytes: number; instances: number };
  cn_load_summary: { server_uuid: string; summary: unknown; last_refreshed_at: Date };
  site_loaded: SiteLoaded;
  boot_policy: BootPolicyRow;
  boot_record: BootRecordRow;
  boot_client: BootClientFacts & { mac: string; seen_at: Date; seen_by: string };
  boot_roster: { id: string; version: number; updated_at: Date; entries: Roster };
  staging: { staged_by: string; stamps: string[]; kinds: Record<string, PlatformKind>; staged_at: Date };
  cn_signal: { server_uuid: string; last_seen: Date | null };
  instance: InstanceRow;
  instance_metrics: MetricsRow;
  instance_load: LoadRow;
  console_session: ConsoleSessionState;
  image_upload: Omit<ImageUploadState, "state">;
  sealed_user_data: { instance_id: string; plain: string | null; sealed: string | null };
  nic: NicRow;
  disk: DiskRow;
  api_key: ApiKeyRow;
  api_key_use: { key_id: string; last_used_at: Date };
  user_account: UserRow;
  user_loaded: UserRow & { silo_id: string | null };
  session: SessionRow;
  tenant_idp: IdpRow;
  silo: NamedRow & { default_tenant_id: string };
  tenant: NamedRow & { silo_id: string };
  project: NamedRow & { tenant_id: string; labels: Labels };
  tenant_usage: { tenant_id: string; cpu: number; memory_bytes: number; disk_bytes: number; instances: number };
  tenant_quota: TenantQuotaRow;
  project_usage: { project_id: string; cpu: number; memory_bytes: number; disk_bytes: number; instances: number };
  quota: QuotaRow;
  vpc: VpcRow;
  subnet: SubnetRow;
  route_table: RouteTableRow;
  route: RouteRow;
  firewall_rule: FirewallRuleRow;
  placement_group: PlacementGroupRow;
  port_forward: PortForwardRow;
  webhook: WebhookRow;
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
  job_loaded: JobRow;
  transition: { msg_id: string; actor_kind: string; actor_id: string; event: string };
}

type WebhookRow = NamedRow & {
  tenant_id: string;
  project_id: string;
  labels: Labels;
  url: string;
  events: string[];
  enabled: boolean;
};

export type CnLoaded = {
  server_uuid: string;
  state: CnState;
  hostname: string;
  role: CnRole;
  admin_ip: string | null;
  underlay_address: string | null;
  underlay_mtu: number | null;
  underlay_address_set: string | null;
  underlay_mtu_set: number | null;
  sysinfo: unknown;
  registered_at: Date;
  approved_at: Date | null;
  registration_id: string | null;
  poll_token_sha256: string | null;
  bound_api_key_id: string | null;
  pending_credential: string | null;
  ticket_keys: string | null;
  last_setup_error: string | null;
  setup_progress: SetupProgress | null;
  disk_layout: SetupApproval | null;
  macs: string[];
  serial: string | null;
  announced_sysinfo: unknown;
  announced_macs: string[];
  unproven: boolean;
  conflict: CnConflict | null;
  setup_epoch: number | null;
  setup_operation_id: string | null;
  bundle_taken: boolean;
  setup_delivery: SetupDelivery | null;
  root_password_hash: string | null;
  traits: Record<string, string>;
  placement: CnPlacementRules;
  bound_macs: string[];
  claims: ClaimSummary[];
  last_seen: Date | null;
  last_status: unknown;
  agent_version: string | null;
  reservoir_enabled: boolean | null;
  reservoir_percent: number | null;
};

export type EnrolmentClaimRow = Omit<EnrolmentClaimState, "macs"> & { macs: string[] };

export type SiteLoaded = {
  id: string;
  state: "window_closed" | "window_open";
  window_opened_at: Date | null;
  window_expires_at: Date | null;
  window_count: number | null;
  window_opened_by: string | null;
  window_remaining: number | null;
};

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
  kind: SessionKind;
  api_key_id: string | null;
  granted_root: boolean;
  granted_scope: "full" | "read_only" | null;
};

export type IdpRow = {
  tenant_id: string;
  issuer_url: string;
  client_id: string;
  /** The sealed secret. */
  client_secret: string;
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

export type TenantQuotaRow = Omit<QuotaRow, "project_id">;

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
  updated_at: Date;
  auto_enroll: boolean;
  allowlist: AllowlistEntry[];
  enrollment_pi: string | null;
  enrollment_kernel_args: string[];
  admin_network: AdminNetwork | null;
  rack_networks: RackNetwork[];
  label_arguments: LabelArguments[];
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
  kernel_args: string[];
  console: BootConsole | null;
  created_at: Date;
  updated_at: Date;
};
