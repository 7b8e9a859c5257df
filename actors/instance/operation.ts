// The operations on instances: the names of their sagas and of the steps that commit with the instance's own messages,
// and the parameters of the sagas.
import type { Instance } from "../../src/contract/instance.ts";
import type { Reference } from "../../src/contract/operation.ts";
import { withNewActor } from "../engine/effects.ts";
import type { Json, With } from "../engine/types.ts";
import type { InstanceState } from "./state.ts";

/** The kinds of operations. An instance has at most one operation in flight. */
export type OperationKind = "create" | "start" | "stop" | "restart" | "retry" | "delete";

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
export const DISK_RESIZE = { saga: "disk-resize", grown: "grow_record" } as const;

export type InstanceCreateParams = {
  readonly instance_id: string;
  readonly host_cn_uuid: string;
  readonly limit_ms: number;
  /** The view at creation. The operation's final reply is built from it. */
  readonly instance: Instance;
};
export type LifecycleAction = "start" | "stop" | "restart" | "retry";
export type InstanceLifecycleParams = InstanceCreateParams & { readonly action: LifecycleAction };
export type InstanceDeleteParams = {
  readonly instance_id: string;
  /** Null when the instance is on no node. */
  readonly host_cn_uuid: string | null;
  readonly limit_ms: number;
  readonly force: boolean;
};
export type DiskResizeParams = {
  readonly instance_id: string;
  readonly disk_id: string;
  readonly size_bytes: number;
  readonly host_cn_uuid: string;
  readonly limit_ms: number;
};

type Begin = {
  readonly id: string;
  readonly saga: string;
  readonly params: Json;
  readonly done: Readonly<Record<string, Json>>;
};

/** Starts the saga in the commit of the message. The message itself does the saga's first steps. */
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
