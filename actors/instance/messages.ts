// The messages of an instance.
import type { PlannedImage } from "../image-upload/state.ts";
import type { AddressFamily, InstanceBrand, JobKind, SnapshotConsistency } from "../../src/contract/enums.ts";
import type { Labels, LabelsPatch } from "../../src/contract/labels.ts";
import type { QuotaDefaults } from "../../src/contract/tenancy.ts";
import type { Blocks } from "../../src/lib/net/ip-block.ts";
import type { Renaming } from "../../src/lib/text/resource-name.ts";
import type { InstanceEvacuateParams, InstanceRebuildParams } from "./operation.ts";
import type { MadeAs } from "./state.ts";

/** A NIC to create. */
export type NicPlan = {
  readonly id: string;
  /** The MAC as the caller wrote it; null for a random MAC. */
  readonly mac: string | null;
  readonly name: string;
  readonly subnet_id: string;
  readonly vpc_id: string;
  /** A placeholder that the commit replaces with the allocated address; null when the subnet has no IPv4 block. */
  readonly ipv4_token: string | null;
  readonly ipv6_token: string | null;
};

/** The subnet of a NIC with the subnet's blocks, and the blocks of its VPC. The blocks never change. */
export type NicPlace = { readonly id: string; readonly vpc_id: string; readonly vpc: Blocks } & Blocks;

/**
 * A NIC to add to an existing instance. If an address is null and the subnet has a block of that family, the NIC gets
 * the lowest free address of the block.
 */
export type AddedNic = {
  readonly id: string;
  readonly mac: string;
  readonly name: string;
  /** Missing in messages of an earlier release. */
  readonly labels?: Labels;
  readonly primary_ipv4: string | null;
  readonly primary_ipv6: string | null;
  readonly additional_ips: readonly string[];
  readonly allowed_cidrs: readonly string[];
};

/** A data disk to create. */
export type DiskPlan = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Missing in messages of an earlier release. */
  readonly labels?: Labels;
  /** Null if the disk gets the size of the snapshot. */
  readonly size_bytes: number | null;
  /** The snapshot or the image that is copied. If both are absent, the disk is empty. */
  readonly snapshot_id?: string | null;
  readonly image_id?: string | null;
};

/** The id of the operation that the message starts, and the time limit for the node's job. */
type Begins = { readonly operation_id: string; readonly limit_ms: number };

type FromStatus = { readonly by: string; readonly made_at: string | null; readonly status_id: string | null };

export type InstanceMessage =
  | (
    & {
      readonly type: "create";
      readonly silo_id: string;
      /** The user data for cloud-init, sealed for this instance, or null. */
      readonly sealed_user_data: string | null;
      /** The NICs, the primary one first. */
      readonly nics: readonly NicPlan[];
      readonly boot_disk: { readonly id: string; readonly size_bytes: number };
      /** The nodes to try, in order. The first node with enough capacity gets the instance. */
      readonly candidates: readonly string[];
      readonly quota_defaults: QuotaDefaults;
    }
    & MadeAs
    & Begins
  )
  /** Null keeps the present value. A new number of vCPUs or a new memory size needs a stopped instance. */
  | ({
    readonly type: "update";
    readonly labels: LabelsPatch | null;
    readonly deletion_protection: boolean | null;
    readonly cpu: number | null;
    readonly memory_bytes: number | null;
    readonly quota_defaults: QuotaDefaults;
  } & Renaming)
  | ({ readonly type: "start" } & Begins)
  | ({ readonly type: "stop" } & Begins)
  | ({ readonly type: "restart" } & Begins)
  /** Presses the reset button. The instance stays running. */
  | ({ readonly type: "reset" } & Begins)
  /** Starts a failed instance. */
  | ({ readonly type: "retry" } & Begins)
  | ({ readonly type: "delete" } & Begins)
  /** Moves a running or stopped instance to the first of these nodes with enough capacity. */
  | ({
    readonly type: "migrate";
    readonly silo_id: string;
    /** The drained node. The message is refused if the instance is on another node. */
    readonly from_cn?: string;
    /** The drain. The message is refused if the drain is not running any more. */
    readonly part_of?: string;
    readonly candidates: readonly string[];
    readonly bandwidth_bytes_per_s: number;
  } & Begins)
  /** The instance moves to the target: the target has a complete copy, and the source no longer runs the machine. */
  | {
    readonly type: "migrated";
    readonly operation_id: string;
    readonly target_cn: string;
    /** The job in which the target starts the machine. */
    readonly activate_job_id: string;
  }
  /** The migration unwinds: the source has the machine as before. */
  | {
    readonly type: "migration_failed";
    readonly operation_id: string;
    readonly target_cn: string;
    readonly reason: string;
  }
  /**
   * Creates the machine again, from its image, on the first of these nodes with enough capacity. `from_cn` is a dead
   * node.
   */
  | ({
    readonly type: "evacuate";
    readonly silo_id: string;
    readonly from_cn: string;
    /** The evacuation of the node. Missing in messages of an earlier release. */
    readonly part_of?: string;
    readonly candidates: readonly string[];
  } & Begins)
  /** The target created the machine. The dead node gets the job `delete_job_id` when it returns. */
  | {
    readonly type: "evacuated";
    readonly operation_id: string;
    readonly source_cn: string;
    readonly target_cn: string;
    readonly to: "running" | "stopped";
    readonly delete_job_id: string;
  }
  /** The evacuation unwinds. The target gets a job that removes what it created, and nothing waits for that job. */
  | {
    readonly type: "evacuation_failed";
    readonly operation_id: string;
    readonly source_cn: string;
    readonly target_cn: string;
    readonly was: InstanceEvacuateParams["was"];
    readonly reason: string;
  }
  /** Replaces the boot disk with a new disk from the image. `bytes` is the size of the image's disk. */
  | ({
    readonly type: "rebuild";
    readonly image: { readonly id: string; readonly bytes: number; readonly brand: InstanceBrand };
  } & Begins)
  /** The node replaced the boot disk with a new disk from the image. */
  | { readonly type: "boot_disk_replaced"; readonly operation_id: string; readonly image_id: string }
  /** The rebuild ended, and the instance is in state `to`. */
  | { readonly type: "rebuilt"; readonly operation_id: string; readonly to: "running" | "stopped" }
  /** The rebuild unwinds. */
  | {
    readonly type: "rebuild_failed";
    readonly operation_id: string;
    readonly was: InstanceRebuildParams["was"];
    readonly reason: string;
  }
  /** Removes the record at once. The node gets the delete job when it next asks for work. */
  | { readonly type: "force_delete"; readonly operation_id: string; readonly job_id: string }
  /** The node has claimed a job of the instance. */
  | { readonly type: "job_claimed"; readonly job_id: string; readonly job_kind: JobKind }
  /** The operation's job succeeded, and the instance is in state `to`. */
  | { readonly type: "settle"; readonly operation_id: string; readonly to: "running" | "stopped" }
  /** The operation unwinds. */
  | { readonly type: "operation_failed"; readonly operation_id: string; readonly reason: string }
  /**
   * The create operation unwinds, and waits until the node has undone its part. The saga then gets `job_ended` with
   * the id `told_as`.
   */
  | {
    readonly type: "unwinding";
    readonly operation_id: string;
    readonly reason: string;
    readonly told_as: string;
  }
  /** Removes the record and releases what the instance holds. Sent by the undo of a create, and by a delete. */
  | { readonly type: "release"; readonly operation_id: string }
  | {
    readonly type: "resize_disk";
    readonly disk_id: string;
    readonly size_bytes: number;
    readonly operation_id: string;
    readonly limit_ms: number;
    readonly quota_defaults: QuotaDefaults;
  }
  /** The node applied this size of the disk. */
  | { readonly type: "disk_applied"; readonly disk_id: string; readonly size_bytes: number }
  /** Creates a data disk and attaches it. */
  | ({ readonly type: "create_disk"; readonly disk: DiskPlan; readonly quota_defaults: QuotaDefaults } & Begins)
  | ({ readonly type: "attach_disk"; readonly disk_id: string } & Begins)
  | ({ readonly type: "detach_disk"; readonly disk_id: string } & Begins)
  | ({ readonly type: "delete_disk"; readonly disk_id: string } & Begins)
  /** Copies a disk into a snapshot. */
  | ({
    readonly type: "create_snapshot";
    readonly disk_id: string;
    readonly snapshot: Pick<DiskPlan, "id" | "name" | "description" | "labels">;
    readonly quota_defaults: QuotaDefaults;
  } & Begins)
  | ({ readonly type: "delete_snapshot"; readonly disk_id: string } & Begins)
  /** Makes an image of a snapshot. */
  | ({
    readonly type: "create_image";
    readonly snapshot_id: string;
    readonly upload_id: string;
    readonly image: Omit<PlannedImage, "content_bytes">;
  } & Begins)
  /** The operation that makes an image ends. `reason` is set if it failed. */
  | { readonly type: "image_ended"; readonly operation_id: string; readonly reason: string | null }
  /** The node changed the data disk or snapshot, and the operation ends. */
  | {
    readonly type: "disk_changed";
    readonly operation_id: string;
    readonly disk_id: string;
    /**
     * Set only if the operation created a disk: the size of the disk on the node. A resize may have changed the size in
     * the record meanwhile.
     */
    readonly created_bytes?: number;
    /** Set only if a snapshot was created. */
    readonly consistency?: SnapshotConsistency;
  }
  /** The operation on the data disk or snapshot unwinds. */
  | {
    readonly type: "disk_unchanged";
    readonly operation_id: string;
    readonly disk_id: string;
    readonly reason: string;
  }
  /**
   * Adds a NIC to a stopped instance. The commit replaces every text that equals a placeholder made from `token`, so
   * `token` must be unguessable.
   */
  | { readonly type: "create_nic"; readonly nic: AddedNic; readonly place: NicPlace; readonly token: string }
  /** Changes the name, description or labels of a disk or a snapshot. Null keeps the present value. */
  | ({
    readonly type: "update_disk" | "update_snapshot";
    readonly disk_id: string;
    readonly labels: LabelsPatch | null;
  } & Renaming)
  /** Changes a NIC. A list replaces the present one. Null keeps the present values. */
  | {
    readonly type: "update_nic";
    readonly nic_id: string;
    /** A process of an earlier release sends neither a name nor labels. */
    readonly name?: string | null;
    readonly labels?: LabelsPatch | null;
    readonly additional_ips: readonly string[] | null;
    readonly allowed_cidrs: readonly string[] | null;
    readonly place: NicPlace;
    readonly token: string;
  }
  /** Removes a NIC of a stopped instance. */
  | { readonly type: "delete_nic"; readonly nic_id: string }
  /**
   * The node reports the instance. `made_at` is the node's own time in RFC 3339, or null. `status_id` is the id of the
   * status report that lists the instance, or null. The message has an effect only while this status report is the
   * node's newest.
   */
  | ({ readonly type: "reported"; readonly vm_state: string; readonly vm_reason?: string | null } & FromStatus)
  /** A report of the instance's node did not list the instance. */
  | ({ readonly type: "missed" } & FromStatus)
  /** The attach of a floating IP to a NIC of the instance begins. */
  | {
    readonly type: "floating_ip_bound";
    readonly floating_ip_id: string;
    readonly family: AddressFamily;
    readonly nic_id: string;
    readonly host_cn_uuid: string;
  }
  /** A floating IP of the instance is about to be attached to another NIC, or detached. */
  | { readonly type: "floating_ip_moves"; readonly floating_ip_id: string }
  | { readonly type: "floating_ip_unbound"; readonly floating_ip_id: string };
