// The row of a floating IP, and its mapping to the states. The mapping loses nothing: a row that is read and written
// back does not change.
import {
  atRest,
  type Binding,
  bindingOf,
  fieldsOf,
  type FloatingIpFields,
  type FloatingIpState,
  operationKind,
} from "./state.ts";

export type FloatingIpRow = FloatingIpFields & {
  readonly state: "live";
  /** The current binding: see bindingOf. Either all three columns are null, or none of them. */
  readonly attached_to: string | null;
  readonly attached_instance_id: string | null;
  readonly hosted_cn: string | null;
  readonly operation_id: string | null;
  readonly operation_kind: "attach" | "detach" | null;
  /**
   * During an attach, the binding that the attach ends. Only `prior_cn` is set if the instance of this binding was
   * deleted: see lost_cn in state.ts.
   */
  readonly prior_nic_id: string | null;
  readonly prior_instance_id: string | null;
  readonly prior_cn: string | null;
  /** The job that an operation waits for while it rolls back. */
  readonly reclaimed_as: string | null;
  /** The VPCs of the two NICs. */
  readonly attached_vpc_id?: string | null;
  readonly prior_vpc_id?: string | null;
};

export function stateOf(row: FloatingIpRow): FloatingIpState {
  const { operation_id, operation_kind, reclaimed_as } = row;
  const bound = binding(row.attached_to, row.attached_instance_id, row.hosted_cn, row.attached_vpc_id);
  const prior = binding(row.prior_nic_id, row.prior_instance_id, row.prior_cn, row.prior_vpc_id);
  if (operation_id === null || operation_kind === null) return atRest(row, bound);
  const [to, from] = operation_kind === "attach" ? [bound, prior] : [null, bound];
  if (reclaimed_as !== null && from !== null) {
    return { ...fieldsOf(row), state: "reclaiming", operation_id, operation_kind, reclaimed_as, to, from };
  }
  const lost_cn = from === null ? row.prior_cn : null;
  return operation_kind === "attach"
    ? { ...fieldsOf(row), state: "attaching", operation_id, to, from, lost_cn }
    : { ...fieldsOf(row), state: "detaching", operation_id, from };
}

export function rowOf(s: FloatingIpState): FloatingIpRow {
  const bound = bindingOf(s);
  const operation = s.state === "detached" || s.state === "attached" ? null : s;
  const kind = operation && operationKind(operation);
  const prior = kind === "attach" ? operation?.from : null;
  const lost_cn = s.state === "attaching" ? s.lost_cn : null;
  return {
    ...fieldsOf(s),
    state: "live",
    attached_to: bound?.nic_id ?? null,
    attached_instance_id: bound?.instance_id ?? null,
    hosted_cn: bound?.host_cn_uuid ?? null,
    operation_id: operation?.operation_id ?? null,
    operation_kind: kind,
    prior_nic_id: prior?.nic_id ?? null,
    prior_instance_id: prior?.instance_id ?? null,
    prior_cn: prior?.host_cn_uuid ?? lost_cn,
    reclaimed_as: s.state === "reclaiming" ? s.reclaimed_as : null,
    attached_vpc_id: bound?.vpc_id ?? null,
    prior_vpc_id: prior?.vpc_id ?? null,
  };
}

/**
 * Returns the NIC whose node serves the address according to the network documents. An address that moves is in no
 * document until the new node has claimed it, because the old node may still have the address. This also applies if the
 * instance of the old binding is deleted meanwhile.
 */
export function servedNic(row: FloatingIpRow): string | null {
  if (row.operation_id === null) return row.attached_to;
  const begins = row.prior_cn === null || row.prior_nic_id === row.attached_to;
  return row.operation_kind === "attach" && row.reclaimed_as === null && begins ? row.attached_to : null;
}

function binding(
  nic_id: string | null,
  instance_id: string | null,
  host_cn_uuid: string | null,
  vpc_id: string | null = null,
): Binding | null {
  return nic_id === null || instance_id === null || host_cn_uuid === null
    ? null
    : { nic_id, instance_id, host_cn_uuid, vpc_id };
}
