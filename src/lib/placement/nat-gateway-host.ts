// Decides which NAT gateways may get a new node (docs/networking.md, "Where NAT gateways run").
import { CN_LIVE_S } from "../../contract/limits.ts";

/** A gateway whose node must no longer run it. */
export type Unfit = { readonly id: string; readonly server_uuid: string };

/** A gateway without a node. */
export type Homeless = {
  readonly id: string;
  /** The NIC tag of the external subnet that contains the address; null if no external subnet contains it. */
  readonly nic_tag: string | null;
  /** The nodes that run a gateway of the same VPC in another external network, and so cannot run this gateway. */
  readonly barred: readonly string[];
  /** When the gateway left its last node; null if it has never had one. */
  readonly left_at: Date | null;
  /**
   * True if the gateway's last node was silent for so long that it has certainly stopped the gateway by itself. If the
   * node's record was removed, the time counts from `left_at`.
   */
  readonly is_fenced: boolean;
  /** The VPC's generation at the time of the read. The documents of this generation assign the gateway to no node. */
  readonly generation: number;
  /**
   * The generation that the gateway's last node has applied. It is -1 if that node has applied no generation or was
   * removed. It is null if that node has no document of the VPC.
   */
  readonly applied_generation: number | null;
};

/**
 * A part of a list that is sorted by id: at most `rows_max` rows after this id. With null, the part begins with the
 * first row.
 */
export type Part = { readonly rows_max: number; readonly after: string | null };

/** A node that may run gateways on a NIC tag, and the number of gateways that it runs. */
export type Candidate = { readonly server_uuid: string; readonly nic_tag: string; readonly gateways: number };

/**
 * The conditions of a node that may run a gateway, in the order of the check. Each text describes the nodes that do not
 * meet the condition.
 */
const CONDITIONS = {
  state: "not approved",
  role: 'without role "edge" or "both"',
  nic_tag: "without a bridge for the NIC tag",
  cordoned: "cordoned",
  network: "running a gateway of the VPC in another external network",
  seen: `not seen for ${CN_LIVE_S} s`,
} as const;

/** A gateway without a node, and what an operator must know to give the gateway a node. */
export type HostlessGateway = {
  readonly id: string;
  readonly name: string;
  readonly public_address: string;
  /** The destination of the route that leads to the gateway. */
  readonly destination: string;
  readonly nic_tag: string | null;
  /** The last node of the gateway, which may still run the gateway; null if the gateway never had a node. */
  readonly leaves: string | null;
  /** The number of nodes by the first condition that they do not meet. `none` counts nodes that may run the gateway. */
  readonly failed: { readonly [C in keyof typeof CONDITIONS | "none"]?: number };
};

/** Returns the reason as one clause: `the NAT gateway out has no node: ...`. */
export function whyHostless({ name, public_address, nic_tag, leaves, failed }: HostlessGateway): string {
  return `the NAT gateway ${name} has no node: ${why()}`;

  function why(): string {
    if (nic_tag === null) return `no external subnet contains its address ${public_address}`;
    const nodes = Object.values(failed).reduce((sum, each) => sum + each, 0);
    if (nodes === 0) return "no node is registered";
    if (failed.none !== undefined) {
      return leaves === null ? "the server is choosing one" : `node ${leaves}, which it left, may still run it`;
    }
    const reasons = Object.entries(CONDITIONS).flatMap(([condition, text]) => {
      const count = failed[condition as keyof typeof CONDITIONS];
      return count === undefined ? [] : [`${count} ${text}${condition === "nic_tag" ? ` ${nic_tag}` : ""}`];
    });
    return `none of the ${nodes} nodes can run it (${reasons.join(", ")})`;
  }
}

/**
 * Returns true only if no node can still run the gateway. This is certain in these cases:
 * - The gateway never had a node.
 * - The last node is fenced, or has no document of the VPC.
 * - The last node has applied the generation `without` or a later one. The documents of these generations assign the
 *   gateway to no node.
 * src/db/resting-addresses.ts has the same conditions in SQL.
 */
export function isOff({ left_at, is_fenced, applied_generation }: Homeless, without: number): boolean {
  return left_at === null || is_fenced || applied_generation === null || applied_generation >= without;
}
