// What a floating IP can be told.
import type { AddressFamily } from "../../src/contract/enums.ts";
import type { Renaming } from "../../src/lib/text/resource-name.ts";
import type { Fault, Offsets } from "../engine/types.ts";

/** One place to take an address from. */
export type AddressSource = {
  readonly pool_id: string;
  readonly family: AddressFamily;
  /** The external subnet and the part of its pool that is its own; null for a fixed pool. */
  readonly network: { readonly id: string; readonly nic_tag: string; readonly within: Offsets } | null;
};

export type FloatingIpMessage =
  | {
    readonly type: "create";
    readonly id: string;
    readonly silo_id: string;
    readonly tenant_id: string;
    readonly project_id: string;
    readonly name: string;
    readonly description: string;
    /** Asked in this order; the first with room gives the address. */
    readonly sources: readonly AddressSource[];
    /** The network pool that lists the sources, when one was asked for. */
    readonly network_pool_id: string | null;
    /** What is heard when none has room, or when there is none. */
    readonly refusal: Fault;
    /** Stands for the address that the commit takes. */
    readonly token: string;
    readonly operation_id: string;
  }
  | ({ readonly type: "update" } & Renaming)
  | { readonly type: "delete" }
  /** Binds it to a NIC; what it was bound to before is given up in the end. */
  | {
    readonly type: "attach";
    readonly nic_id: string;
    readonly instance_id: string;
    /** The node that the instance is on. */
    readonly host_cn_uuid: string | null;
    readonly operation_id: string;
    /** How long each node may take. */
    readonly limit_ms: number;
  }
  | { readonly type: "detach"; readonly operation_id: string; readonly limit_ms: number }
  /** The nodes have done their part. */
  | { readonly type: "attached"; readonly operation_id: string }
  | { readonly type: "detached"; readonly operation_id: string }
  /** The operation unwinds: what was let go of is bound again. Told under this name when it is, if it waits for that. */
  | { readonly type: "reclaim"; readonly operation_id: string; readonly told_as: string; readonly waits: boolean }
  /** The operation came to nothing: the binding is what it was before. */
  | { readonly type: "restore"; readonly operation_id: string; readonly reason: string }
  /** An instance is gone, with its NICs. `forced`: the operation that did not wait for its node. */
  | { readonly type: "instance_gone"; readonly instance_id: string; readonly forced: string | null }
  /** The operation that made it is taken back. */
  | { readonly type: "withdraw"; readonly operation_id: string };
