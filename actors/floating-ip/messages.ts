// The messages to a floating IP.
import type { Labels, LabelsPatch } from "../../src/contract/labels.ts";
import type { Renaming } from "../../src/lib/text/resource-name.ts";
import type { Addressed } from "../record/address-source.ts";

export type FloatingIpMessage =
  | (Addressed & {
    readonly type: "create";
    readonly id: string;
    readonly tenant_id: string;
    readonly project_id: string;
    readonly name: string;
    readonly description: string;
    readonly labels?: Labels;
    readonly operation_id: string;
  })
  | ({ readonly type: "update"; readonly labels?: LabelsPatch | null } & Renaming)
  | { readonly type: "delete" }
  /**
   * Starts the operation that binds the floating IP to a NIC. If the floating IP is bound to another NIC, the operation
   * first ends that binding.
   */
  | {
    readonly type: "attach";
    readonly nic_id: string;
    readonly instance_id: string;
    /** The VPC of the NIC. */
    readonly vpc_id: string;
    /** The node of the instance. */
    readonly host_cn_uuid: string | null;
    readonly operation_id: string;
    /** The time limit for the job of each node. */
    readonly limit_ms: number;
  }
  | { readonly type: "detach"; readonly operation_id: string; readonly limit_ms: number }
  /** The jobs that the operation waits for have succeeded. */
  | { readonly type: "attached"; readonly operation_id: string }
  | { readonly type: "detached"; readonly operation_id: string }
  /**
   * The operation rolls back: the old node binds the address again. If `waits` is set, the saga waits for the old
   * node's job. When this job ends, the saga gets `job_ended` with the id `told_as`.
   */
  | { readonly type: "reclaim"; readonly operation_id: string; readonly told_as: string; readonly waits: boolean }
  /** The operation has rolled back: the binding from before the operation applies again. */
  | { readonly type: "restore"; readonly operation_id: string; readonly reason: string }
  /**
   * An instance is deleted with its NICs. `forced` is the id of a forced delete, which did not wait for the node, or
   * null.
   */
  | { readonly type: "instance_gone"; readonly instance_id: string; readonly forced: string | null }
  /** The instance moved with its NICs to another node, whose network documents now serve the address. */
  | {
    readonly type: "instance_moved";
    readonly instance_id: string;
    readonly host_cn_uuid: string;
    readonly operation_id: string;
  }
  /** The operation that created the floating IP is rolled back. */
  | { readonly type: "withdraw"; readonly operation_id: string };
