// The operations on instances: their sagas, the steps that commit together with the instance's own messages, and the
// parameters that both sides know. Document 3, Events; document 4, 3.2.
import type { Instance } from "../../src/contract/instance.ts";
import type { Reference } from "../../src/contract/operation.ts";
import { withActor } from "../engine/effects.ts";
import type { Json, With } from "../engine/types.ts";
import type { InstanceState } from "./state.ts";

/** What keeps an instance from everything else while it goes on. */
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
  /** As it was made; what is heard in the end is made from it. */
  readonly instance: Instance;
};
export type LifecycleAction = "start" | "stop" | "restart" | "retry";
export type InstanceLifecycleParams = InstanceCreateParams & { readonly action: LifecycleAction };
export type InstanceDeleteParams = {
  readonly instance_id: string;
  /** Null: no node knows of it. */
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

/** Starts the saga in the commit of the message that does its first steps. */
export function begin(s: InstanceState, { id, saga, params, done }: Begin, more: readonly Reference[] = []): With {
  const references: Reference[] = [
    { scope: "instance", id: s.id },
    { scope: "project", id: s.project_id },
    { scope: "tenant", id: s.tenant_id },
    ...(s.host_cn_uuid === null ? [] : [{ scope: "cn" as const, id: s.host_cn_uuid }]),
    ...more,
  ];
  return withActor({ kind: "saga", id }, { type: "start", id, saga, params, references, done });
}
