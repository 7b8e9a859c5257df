// The operations on floating IPs: the names and parameters of their sagas, and the jobs for nodes. Some steps commit
// together with a message of the floating IP itself; this file has the names of these steps.
import type { FloatingIp } from "../../src/contract/network.ts";
import type { Reference } from "../../src/contract/operation.ts";
import { withActor } from "../engine/effects.ts";
import { type JobPlan, stepId } from "../engine/saga.ts";
import type { Json, With } from "../engine/types.ts";
import type { Binding, FloatingIpFields } from "./state.ts";

export const FLOATING_IP_ALLOCATE = { saga: "floating-ip-allocate", record: "allocate" } as const;
export const FLOATING_IP_ATTACH = { saga: "floating-ip-attach", bound: "attach" } as const;
export const FLOATING_IP_DETACH = { saga: "floating-ip-detach", begun: "begin" } as const;

/** The address in the payload of a job. */
export type Bound = {
  readonly floating_ip_id: string;
  readonly fip_addr: string;
  readonly external_nic_tag: string | null;
  readonly vlan_id: number | null;
};
/** A binding that its node must release, with the generation of the job that made the binding. */
export type Held = Binding & {
  readonly generation: number;
  /** Whether the node was live when the operation began. An operation waits only for a live node. */
  readonly live: boolean;
};

export type FloatingIpDetachParams = {
  readonly floating_ip_id: string;
  readonly bound: Bound;
  /** The binding that the operation ends, or null. */
  readonly held: Held | null;
  readonly limit_ms: number;
  /** The view when the operation began. The operation's result is built from it. */
  readonly floating_ip: FloatingIp;
};
export type FloatingIpAttachParams = FloatingIpDetachParams & {
  /** Null if the floating IP is already bound to the requested NIC. */
  readonly to: (Binding & { readonly generation: number }) | null;
};

type Order = Omit<JobPlan, "limit_ms">;

/** Returns the job with which the node of the NIC begins to answer for the address. */
export function claimOrder(bound: Bound, to: Binding & { readonly generation: number }): Order {
  const { host_cn_uuid, nic_id, instance_id, generation } = to;
  return { kind: "fip_claim", target_cn: host_cn_uuid, payload: { ...bound, nic_id, instance_id, generation } };
}

/**
 * Returns the job with which the node releases the address. The job does nothing if the node has since bound the
 * address to another NIC or with a later generation. The NIC may be deleted before the node gets the job, so the job
 * names the VPC, whose router may have the address.
 */
export function releaseOrder(bound: Bound, from: Binding & { readonly generation: number }): Order {
  const { host_cn_uuid: hosted_cn, nic_id, instance_id, generation, vpc_id = null } = from;
  return {
    kind: "fip_release",
    target_cn: hosted_cn,
    payload: { ...bound, hosted_cn, nic_id, instance_id, generation, vpc_id },
  };
}

/** Enqueues a job that no operation waits for. */
export function sent(order: Order, { id, operation_id }: { readonly id: string; readonly operation_id: string }): With {
  return withActor({ kind: "job", id }, { type: "enqueue", id, ...order, saga_id: operation_id });
}

/** Returns the id of the job that releases an address from the new node of an attach that failed. */
export function failedRelease(operation_id: string): string {
  return stepId(operation_id, "claim", "release");
}

/** Returns the id of the job that releases an address after the forced delete of an instance. */
export function forcedRelease(operation_id: string, { id }: FloatingIpFields, { nic_id }: Binding): string {
  return stepId(operation_id, "release", `${id} ${nic_id}`);
}

export function boundOf({ id, address, external_nic_tag, vlan_id }: FloatingIpFields): Bound {
  return { floating_ip_id: id, fip_addr: address, external_nic_tag, vlan_id: vlan_id ?? null };
}

type Begin = {
  readonly id: string;
  readonly saga: string;
  readonly params: Json;
  readonly done: Readonly<Record<string, Json>>;
  /** The old and the new binding. */
  readonly about: readonly (Binding | null)[];
};

/**
 * Starts a saga in the commit of the floating IP's message that begins the operation. That commit already contains the
 * effects of some steps. `done` has the results of these steps, so the saga does not run them.
 */
export function begin(s: FloatingIpFields, { id, saga, params, done, about }: Begin): With {
  const references: Reference[] = [
    { scope: "floating_ip", id: s.id },
    { scope: "project", id: s.project_id },
    { scope: "tenant", id: s.tenant_id },
    ...about.flatMap((each): Reference[] =>
      each === null ? [] : [
        { scope: "nic", id: each.nic_id },
        { scope: "instance", id: each.instance_id },
        { scope: "cn", id: each.host_cn_uuid },
      ]
    ),
  ];
  const once = new Map(references.map((each) => [`${each.scope} ${each.id}`, each]));
  return withActor({ kind: "saga", id }, { type: "start", id, saga, params, references: [...once.values()], done });
}
