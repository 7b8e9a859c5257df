// Decides which NAT gateways may get a new node (docs/networking.md, "Where NAT gateways run").

/** A gateway whose node must no longer run it. */
export type Unfit = { readonly id: string; readonly server_uuid: string };

/** A gateway without a node. */
export type Homeless = {
  readonly id: string;
  /** The NIC tag of the external subnet that contains the address; null if no external subnet contains it. */
  readonly nic_tag: string | null;
  /** When the gateway left its last node; null if it has never had one. */
  readonly left_at: Date | null;
  /**
   * Whether the node that the gateway left certainly no longer runs it, because that node was silent for the fence's
   * time or was removed.
   */
  readonly is_fenced: boolean;
  /** The generation of the VPC in this snapshot, in which no node runs the gateway. */
  readonly generation: number;
  /**
   * The generation that the gateway's last node has applied; -1 if that node has applied no generation, null if it has
   * no document.
   */
  readonly applied_generation: number | null;
};

/** A node that may run gateways on a NIC tag, and the number of gateways that it runs. */
export type Candidate = { readonly server_uuid: string; readonly nic_tag: string; readonly gateways: number };

/**
 * Returns whether certainly no node runs the gateway any more. This is so if the gateway never had a node, or if its
 * last node is fenced, has no document of the VPC, or has applied a document without the gateway.
 */
export function isOff({ left_at, is_fenced, applied_generation }: Homeless, without: number): boolean {
  return left_at === null || is_fenced || applied_generation === null || applied_generation >= without;
}
