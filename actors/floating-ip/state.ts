// The row of a floating IP.
import type { AddressFamily } from "../../src/contract/enums.ts";
import type { At } from "../engine/table.ts";

/** What is at work on its binding. */
export type BindingOperation = "attach" | "detach";

export type FloatingIpState = {
  readonly state: "live";
  readonly id: string;
  readonly tenant_id: string;
  readonly project_id: string;
  readonly name: string;
  readonly description: string;
  readonly address: string;
  readonly family: AddressFamily;
  /** Where the address goes back to. */
  readonly pool_id: string;
  /** The external subnet it was taken from; null for the fixed pools. */
  readonly network_id: string | null;
  readonly external_nic_tag: string | null;
  /** Of its network: joined by the view and never written. */
  readonly vlan_id?: number | null;
  /** The NIC it is bound to; from the first commit of an attach on the one that it is to be bound to. */
  readonly attached_to: string | null;
  readonly attached_instance_id: string | null;
  readonly hosted_cn: string | null;
  /** Grows with every order to a node. */
  readonly generation: number;
  /** The operation at work on its binding: no other begins before it ends. */
  readonly operation_id: string | null;
  readonly operation_kind: BindingOperation | null;
  /** While it is being attached: what it was bound to before. */
  readonly prior_nic_id: string | null;
  readonly prior_instance_id: string | null;
  readonly prior_cn: string | null;
  /** What the operation waits to be told while it unwinds and a node binds the address again. */
  readonly reclaimed_as: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
};

export type Live = At<FloatingIpState, "live">;

/** A NIC, its instance and the node that it is on. */
export type Binding = { readonly nic_id: string; readonly instance_id: string; readonly host_cn_uuid: string };

/** Bound to nothing. */
export const UNBOUND = { attached_to: null, attached_instance_id: null, hosted_cn: null } as const;
export const NO_PRIOR = { prior_nic_id: null, prior_instance_id: null, prior_cn: null } as const;
/** No operation is at work. */
export const AT_REST = { operation_id: null, operation_kind: null, reclaimed_as: null, ...NO_PRIOR } as const;

export function bindingOf(s: FloatingIpState): Binding | null {
  const { attached_to: nic_id, attached_instance_id: instance_id, hosted_cn: host_cn_uuid } = s;
  return nic_id === null || instance_id === null || host_cn_uuid === null
    ? null
    : { nic_id, instance_id, host_cn_uuid };
}

export function priorOf(s: FloatingIpState): Binding | null {
  const { prior_nic_id: nic_id, prior_instance_id: instance_id, prior_cn: host_cn_uuid } = s;
  return nic_id === null || instance_id === null || host_cn_uuid === null
    ? null
    : { nic_id, instance_id, host_cn_uuid };
}

export function boundTo(to: Binding | null): Pick<Live, keyof typeof UNBOUND> {
  if (to === null) return UNBOUND;
  return { attached_to: to.nic_id, attached_instance_id: to.instance_id, hosted_cn: to.host_cn_uuid };
}

export function priorTo(of: Binding | null): Pick<Live, keyof typeof NO_PRIOR> {
  if (of === null) return NO_PRIOR;
  return { prior_nic_id: of.nic_id, prior_instance_id: of.instance_id, prior_cn: of.host_cn_uuid };
}
