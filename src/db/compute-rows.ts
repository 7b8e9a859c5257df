// Defines the row types of images, SSH keys, instances, disks, NICs and jobs, for Kysely. tables.ts lists the tables.
import type {
  DiskKind,
  ImageScopeKind,
  InstanceBrand,
  InstanceState,
  JobStatus,
  LoadStep,
  SnapshotConsistency,
} from "../contract/enums.ts";
import type { Compatibility } from "../contract/image.ts";
import type { Labels } from "../contract/labels.ts";
import type { ScopeColumns } from "../contract/scope.ts";
import type { NamedRow, OwnedRow } from "./network-rows.ts";

export type ImageRow = NamedRow & Omit<ScopeColumns<ImageScopeKind>, "user_id"> & {
  labels: Labels;
  os: string;
  os_version: string;
  size_bytes: number;
  content_bytes: number | null;
  sha256: string;
  source_url: string | null;
  compatibility: Compatibility | null;
};

export type InstanceRow = OwnedRow & {
  state: InstanceState;
  labels: Labels;
  deletion_protection: boolean;
  placement_group_id: string | null;
  brand: InstanceBrand;
  cpu: number;
  memory_bytes: number;
  image_id: string;
  primary_subnet_id: string;
  ssh_key_ids: string[];
  host_cn_uuid: string | null;
  reason: string | null;
  operation_id: string | null;
  missed_reports: number;
  reported_at: Date | null;
  updated_at: Date;
};

/** Columns of an instance's disks and NICs. */
type PartRow = {
  id: string;
  tenant_id: string;
  project_id: string;
  instance_id: string;
  name: string;
  labels: Labels;
  created_at: Date;
};

export type NicRow = PartRow & {
  vpc_id: string;
  subnet_id: string;
  ordinal: number;
  mac: string;
  primary_ipv4: string | null;
  primary_ipv6: string | null;
  additional_ips: string[];
  allowed_cidrs: string[];
};

export type DiskRow = PartRow & {
  description: string;
  kind: DiskKind | "snapshot";
  size_bytes: number;
  applied_bytes: number | null;
  attached: boolean;
  source_image_id: string | null;
  source_disk_id: string | null;
  consistency: SnapshotConsistency | null;
};

export type SshKeyRow = NamedRow & ScopeColumns & { labels: Labels; public_key: string; fingerprint: string };

export type JobRow = {
  id: string;
  version: number;
  state: JobStatus;
  seq: number;
  kind: string;
  target_cn: string;
  payload: Record<string, unknown>;
  saga_id: string;
  created_at: Date;
  claimed_by: string | null;
  claimed_at: Date | null;
  lease_s: number | null;
  lease_until: Date | null;
  result: unknown;
  reason: string | null;
  tombstone: boolean | null;
  completed_at: Date | null;
  renewed_at: Date | null;
  step: string | null;
  percent: number | null;
  progress_at: Date | null;
};

/** A sample of the resources that the machine of an instance used. */
export type MetricsRow = {
  instance_id: string;
  at: Date;
  cpu_seconds: number;
  memory_bytes: number;
  disk_read_bytes: number;
  disk_written_bytes: number;
  network_received_bytes: number;
  network_sent_bytes: number;
  simulated: boolean;
};

export type LoadRow = {
  instance_id: string;
  step: LoadStep;
  at: Date;
  cpu: number | null;
  cpu_max: number | null;
  memory_bytes: number;
  disk_read_bytes_per_s: number | null;
  disk_written_bytes_per_s: number | null;
  network_received_bytes_per_s: number | null;
  network_sent_bytes_per_s: number | null;
  simulated: boolean;
};
