// The row of an instance, with the NICs and disks that its view joins.
import type { DiskKind, InstanceBrand, InstanceState as Name, SnapshotConsistency } from "../../src/contract/enums.ts";
import type { Labels } from "../../src/contract/labels.ts";
import type { Named } from "../../src/lib/text/resource-name.ts";
import type { At } from "../engine/table.ts";
import type { OperationKind } from "./operation.ts";

/** Times of NICs and disks are RFC 3339 texts, because the view returns them as JSON. */
export type NicRow = {
  readonly id: string;
  readonly tenant_id: string;
  readonly project_id: string;
  readonly instance_id: string;
  readonly vpc_id: string;
  readonly subnet_id: string;
  readonly ordinal: number;
  readonly name: string;
  readonly mac: string | null;
  readonly primary_ipv4: string | null;
  readonly primary_ipv6: string | null;
  /** Further addresses of the NIC, all from its subnet. */
  readonly additional_ips: readonly string[];
  /**
   * Blocks from which the guest may also send, in addition to its addresses. The VPC routes packets to these blocks to
   * the NIC.
   */
  readonly allowed_cidrs: readonly string[];
  readonly labels: Labels;
  readonly created_at: string;
};

export type DiskRow = {
  readonly id: string;
  readonly tenant_id: string;
  readonly project_id: string;
  readonly instance_id: string;
  readonly name: string;
  readonly description: string;
  readonly labels: Labels;
  /** A snapshot is a copy of a disk. No guest can use the copy. */
  readonly kind: DiskKind | "snapshot";
  /** The requested size. */
  readonly size_bytes: number;
  /** The size that the node last applied; null until the node has created the disk. */
  readonly applied_bytes: number | null;
  /** Whether the guest has the disk. A detached disk stays on the node. */
  readonly attached: boolean;
  readonly source_image_id: string | null;
  /** The disk that the snapshot copied; null for other kinds. */
  readonly source_disk_id: string | null;
  /** Null until the node has made the snapshot, and for other kinds. */
  readonly consistency: SnapshotConsistency | null;
  readonly created_at: string;
  /** The operation of the disk's last resize, which may still be in flight. */
  readonly resize_operation_id: string | null;
};

/** The properties of an instance from its creation. An update can change some of them. */
export type MadeAs = {
  readonly id: string;
  readonly tenant_id: string;
  readonly project_id: string;
  readonly labels: Labels;
  /** Whether a delete is refused. */
  readonly deletion_protection: boolean;
  readonly placement_group_id: string | null;
  readonly brand: InstanceBrand;
  readonly cpu: number;
  readonly memory_bytes: number;
  readonly image_id: string;
  readonly primary_subnet_id: string;
  readonly ssh_key_ids: readonly string[];
} & Named;

type Columns = MadeAs & {
  readonly host_cn_uuid: string | null;
  /** Why the instance failed. */
  readonly reason: string | null;
  /**
   * The operation that occupies the instance. Until it ends, no other operation can occupy the instance, and reports
   * about the instance are ignored.
   */
  readonly operation_id: string | null;
  readonly operation_kind: OperationKind | null;
  /** Whether the node has claimed the operation's job. */
  readonly job_begun: boolean;
  /** The id under which the operation waits for the node to undo its part. */
  readonly unwinding_as: string | null;
  readonly floating_ip_ids: readonly string[];
  readonly reported_at: Date | null;
  readonly missed_reports: number;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly nics: readonly NicRow[];
  readonly disks: readonly DiskRow[];
  /** The migration in flight. */
  readonly migration_id: string | null;
};

export type InstanceState = { [State in Name]: Columns & { readonly state: State } }[Name];
export type On<State extends Name> = At<InstanceState, State>;

/** The values of the operation's columns while no operation is in flight. */
export const IDLE = { operation_id: null, operation_kind: null, job_begun: false, unwinding_as: null } as const;
