// The states of a floating IP. At most one operation at a time changes the binding:
//
//   detached ──attach──► attaching ──attached──► attached ──detach──► detaching ──detached──► detached
//
// An operation that rolls back asks the node that released the address to bind it again. While the operation waits for
// that node, the state is reclaiming. The row has no column for these states. row.ts derives the state from other
// columns, so a process of an earlier release can use the row.
import type { AddressFamily } from "../../src/contract/enums.ts";
import type { Labels } from "../../src/contract/labels.ts";

/** A NIC, its instance and the node of the instance. */
export type Binding = {
  readonly nic_id: string;
  readonly instance_id: string;
  readonly host_cn_uuid: string;
  /**
   * The VPC of the NIC, which the view floating_ip_loaded joins. It is never written. Null if the NIC is deleted, or if
   * a process of an earlier release began the operation.
   */
  readonly vpc_id?: string | null;
};

/** The columns that have the same meaning in every state. */
export type FloatingIpFields = {
  readonly id: string;
  readonly tenant_id: string;
  readonly project_id: string;
  readonly name: string;
  readonly description: string;
  readonly labels: Labels;
  readonly address: string;
  readonly family: AddressFamily;
  /** The pool to which a delete returns the address. */
  readonly pool_id: string;
  /** The external subnet of the address; null for an address from a fixed pool (src/lib/net/public-pool.ts). */
  readonly network_id: string | null;
  readonly external_nic_tag: string | null;
  /** The VLAN of the external subnet, which the view floating_ip_loaded joins. It is never written. */
  readonly vlan_id?: number | null;
  /** Grows with every job that binds the address on a node. */
  readonly generation: number;
  readonly created_at: Date;
  readonly updated_at: Date;
};

/** `from` is the binding that the operation ends. Null if the floating IP was detached or the instance is deleted. */
type InOperation = FloatingIpFields & { readonly operation_id: string; readonly from: Binding | null };

export type Detached = FloatingIpFields & { readonly state: "detached" };
export type Attached = FloatingIpFields & { readonly state: "attached"; readonly bound: Binding };
/** `to` is null after the instance of the new binding was deleted. */
export type Attaching = InOperation & {
  readonly state: "attaching";
  readonly to: Binding | null;
  /**
   * The node of the old binding if the instance of this binding was deleted during the attach; otherwise null. The node
   * may still answer for the address, so the documents of the new node get the address only when the attach ends.
   */
  readonly lost_cn: string | null;
};
export type Detaching = InOperation & { readonly state: "detaching" };
/** The operation rolls back and waits until the node of `from` has bound the address again. */
export type Reclaiming = InOperation & {
  readonly state: "reclaiming";
  readonly from: Binding;
  /** The job that the operation waits for. */
  readonly reclaimed_as: string;
  /** The binding that the operation was to make; null for a detach, or if its instance was deleted. */
  readonly to: Binding | null;
  readonly operation_kind: "attach" | "detach";
};

/** No operation changes the binding. */
export type AtRest = Detached | Attached;
/** An operation changes the binding. */
export type Busy = Attaching | Detaching | Reclaiming;
export type FloatingIpState = AtRest | Busy;

/** Returns the columns that have the same meaning in every state. */
export function fieldsOf(s: FloatingIpFields): FloatingIpFields {
  return {
    id: s.id,
    tenant_id: s.tenant_id,
    project_id: s.project_id,
    name: s.name,
    description: s.description,
    labels: s.labels,
    address: s.address,
    family: s.family,
    pool_id: s.pool_id,
    network_id: s.network_id,
    external_nic_tag: s.external_nic_tag,
    vlan_id: s.vlan_id ?? null,
    generation: s.generation,
    created_at: s.created_at,
    updated_at: s.updated_at,
  };
}

/** Returns the state after an operation: attached to the NIC, or detached. */
export function atRest(s: FloatingIpFields, bound: Binding | null): AtRest {
  return bound === null ? { ...fieldsOf(s), state: "detached" } : { ...fieldsOf(s), state: "attached", bound };
}

/** Returns the current binding. During an attach this is the new binding, during a detach the binding that ends. */
export function bindingOf(s: FloatingIpState): Binding | null {
  switch (s.state) {
    case "detached":
      return null;
    case "attached":
      return s.bound;
    case "attaching":
      return s.to;
    case "detaching":
      return s.from;
    case "reclaiming":
      return s.operation_kind === "attach" ? s.to : s.from;
  }
}

/** Returns the binding in the form of audit entries, or null. */
export function named(binding: Binding | null) {
  if (binding === null) return null;
  const { nic_id, instance_id, host_cn_uuid } = binding;
  return { nic_id, instance_id, host_cn_uuid };
}

/** Returns the kind of the operation, as audit entries and refusals name it. */
export function operationKind(s: Busy): "attach" | "detach" {
  switch (s.state) {
    case "attaching":
      return "attach";
    case "detaching":
      return "detach";
    case "reclaiming":
      return s.operation_kind;
  }
}
