// The operations on instances: the names of the sagas, the names of the steps that other files refer to, and the
// parameters of the sagas.
import type { Disk, Instance } from "../../src/contract/instance.ts";
import type { Snapshot } from "../../src/contract/snapshot.ts";
import type { Reference } from "../../src/contract/operation.ts";
import { withNewActor } from "../engine/effects.ts";
import type { Json, With } from "../engine/types.ts";
import type { PlannedImage } from "../image-upload/state.ts";
import type { InstanceState } from "./state.ts";

/**
 * The operations that occupy an instance: at most one of them is in flight at a time. An evacuation has the kind
 * `migrate`. A disk resize does not occupy the instance, so it can run at the same time as one of these operations.
 */
export type OperationKind =
  | "create"
  | "start"
  | "stop"
  | "restart"
  | "reset"
  | "retry"
  | "delete"
  | "migrate"
  | "rebuild"
  | "create_image"
  | DiskAction;

/** The operations on data disks and snapshots. Each has a job of the same name. */
export const DISK_ACTIONS = [
  "create_disk",
  "attach_disk",
  "detach_disk",
  "delete_disk",
  "create_snapshot",
  "delete_snapshot",
] as const;
export type DiskAction = (typeof DISK_ACTIONS)[number];

export const INSTANCE_CREATE = {
  saga: "instance-create",
  record: "create_instance_record",
  host: "designate",
  job: "provision",
} as const;
export const INSTANCE_LIFECYCLE = { saga: "instance-lifecycle", begun: "transition_lifecycle" } as const;
export const INSTANCE_DELETE = {
  saga: "instance-delete",
  begun: "begin",
  job: "delete",
  released: "release_record",
} as const;
export const DISK_CHANGE = { saga: "disk-change", begun: "begin" } as const;
export const INSTANCE_MIGRATE = { saga: "instance-migrate", begun: "begin", send: "send" } as const;
export const INSTANCE_EVACUATE = { saga: "instance-evacuate", begun: "begin", provision: "provision" } as const;
export const INSTANCE_REBUILD = { saga: "instance-rebuild", begun: "begin" } as const;
export const IMAGE_CREATE = { saga: "image-create", begun: "begin" } as const;
export const DISK_RESIZE = { saga: "disk-resize", grown: "grow_record" } as const;

export type InstanceCreateParams = {
  readonly instance_id: string;
  readonly host_cn_uuid: string;
  readonly limit_ms: number;
  /**
   * The API view of the instance in the commit that starts the operation. The operation's final reply is built from it.
   */
  readonly instance: Instance;
};
export type LifecycleAction = "start" | "stop" | "restart" | "reset" | "retry";
export type InstanceLifecycleParams = InstanceCreateParams & { readonly action: LifecycleAction };
export type InstanceDeleteParams = {
  readonly instance_id: string;
  /** Null when the instance is on no node. */
  readonly host_cn_uuid: string | null;
  readonly limit_ms: number;
  readonly force: boolean;
};
export type InstanceMigrateParams = {
  readonly instance_id: string;
  readonly source_cn: string;
  readonly target_cn: string;
  /** Whether the guest runs while it moves. */
  readonly live: boolean;
  /** The maximum number of bytes per second that the source sends. */
  readonly bandwidth_bytes_per_s: number;
  readonly limit_ms: number;
  readonly instance: Instance;
};
export type InstanceEvacuateParams = {
  readonly instance_id: string;
  /** The dead node. */
  readonly source_cn: string;
  readonly target_cn: string;
  /** The state before the evacuation. */
  readonly was: { readonly state: "running" | "stopped" | "failed"; readonly reason: string | null };
  readonly limit_ms: number;
  readonly instance: Instance;
};
export type InstanceRebuildParams = {
  readonly instance_id: string;
  readonly host_cn_uuid: string;
  readonly image_id: string;
  /** The boot disk, and the size of the new boot disk. */
  readonly disk: { readonly id: string; readonly size_bytes: number };
  /** The state before the rebuild. */
  readonly was: { readonly state: "running" | "stopped" | "failed"; readonly reason: string | null };
  readonly limit_ms: number;
  readonly instance: Instance;
};
export type DiskResizeParams = {
  readonly instance_id: string;
  readonly disk_id: string;
  readonly size_bytes: number;
  readonly host_cn_uuid: string;
  readonly limit_ms: number;
};

export type CopySource = { readonly source_disk_id: string } | { readonly image_id: string };
export type DiskChangeParams = {
  readonly action: DiskAction;
  readonly instance_id: string;
  /** The API view of the disk or snapshot in the commit that starts the operation. */
  readonly disk: Disk | Snapshot;
  /** The disk, snapshot or image that the node copies. */
  readonly source?: CopySource;
  readonly host_cn_uuid: string;
  readonly limit_ms: number;
};

/** The operation that makes an image of a snapshot. */
export type ImageCreateParams = {
  readonly instance_id: string;
  readonly tenant_id: string;
  readonly project_id: string;
  readonly snapshot_id: string;
  /** The size of the disk that the snapshot copied. */
  readonly size_bytes: number;
  /** The upload into which the node sends the bytes. */
  readonly upload_id: string;
  readonly image: PlannedImage;
  readonly host_cn_uuid: string;
  readonly limit_ms: number;
};

type Begin = {
  readonly id: string;
  readonly saga: string;
  readonly params: Json;
  readonly done: Readonly<Record<string, Json>>;
};

/**
 * Starts a saga in the commit of the instance's message that begins the operation. That commit already contains the
 * effects of some steps. `done` has the results of these steps, so the saga does not run them.
 */
export function begin(s: InstanceState, { id, saga, params, done }: Begin, more: readonly Reference[] = []): With {
  const references: Reference[] = [
    { scope: "instance", id: s.id },
    { scope: "project", id: s.project_id },
    { scope: "tenant", id: s.tenant_id },
    ...(s.host_cn_uuid === null ? [] : [{ scope: "cn" as const, id: s.host_cn_uuid }]),
    ...more,
  ];
  return withNewActor({ kind: "saga", id }, { type: "start", id, saga, params, references, done });
}
