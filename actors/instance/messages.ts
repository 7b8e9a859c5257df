// What an instance can be told.
import type { JobKind } from "../../src/contract/enums.ts";
import type { QuotaDefaults } from "../../src/contract/tenancy.ts";
import type { Renaming } from "../../src/lib/text/resource-name.ts";
import type { MadeAs } from "./state.ts";

/** A NIC to be made. */
export type NicPlan = {
  readonly id: string;
  /** As the caller wrote it; null: one by chance. */
  readonly mac: string | null;
  readonly name: string;
  readonly subnet_id: string;
  readonly vpc_id: string;
  /** Stands for the address that the commit takes; null where the subnet has none of the family. */
  readonly ipv4_token: string | null;
  readonly ipv6_token: string | null;
};

/** The operation that the message begins: its id, and how long the node may take. */
type Begins = { readonly operation_id: string; readonly limit_ms: number };

type FromStatus = { readonly by: string; readonly made_at: string | null; readonly status_id: string | null };

export type InstanceMessage =
  | (
    & {
      readonly type: "create";
      readonly silo_id: string;
      /** For cloud-init, sealed for this instance; null when none was given. */
      readonly sealed_user_data: string | null;
      /** The primary one first. */
      readonly nics: readonly NicPlan[];
      readonly boot_disk: { readonly id: string; readonly size_bytes: number };
      /** Nodes to try, in this order; the first with room gets it. */
      readonly candidates: readonly string[];
      readonly quota_defaults: QuotaDefaults;
    }
    & MadeAs
    & Begins
  )
  | ({ readonly type: "update" } & Renaming)
  | ({ readonly type: "start" } & Begins)
  | ({ readonly type: "stop" } & Begins)
  | ({ readonly type: "restart" } & Begins)
  /** A failed instance is started, whatever its node finds of it. */
  | ({ readonly type: "retry" } & Begins)
  | ({ readonly type: "delete" } & Begins)
  /** The record goes at once; the node hears of it when it can. */
  | { readonly type: "force_delete"; readonly operation_id: string; readonly job_id: string }
  /** The node has claimed a job of the instance. */
  | { readonly type: "job_claimed"; readonly job_id: string; readonly job_kind: JobKind }
  /** The operation's job is done. */
  | { readonly type: "settle"; readonly operation_id: string; readonly to: "running" | "stopped" }
  /** The operation unwinds: its job came to nothing, or was never done. */
  | { readonly type: "operation_failed"; readonly operation_id: string; readonly reason: string }
  /** The making unwinds, and waits under this name until the node has undone its part. */
  | {
    readonly type: "unwinding";
    readonly operation_id: string;
    readonly reason: string;
    readonly told_as: string;
  }
  /** The end of the operation that makes or deletes it: the record goes, and gives back all that it holds. */
  | { readonly type: "release"; readonly operation_id: string }
  | {
    readonly type: "resize_disk";
    readonly disk_id: string;
    readonly size_bytes: number;
    readonly operation_id: string;
    readonly limit_ms: number;
    readonly quota_defaults: QuotaDefaults;
  }
  /** The node has made the disk this large. */
  | { readonly type: "disk_applied"; readonly disk_id: string; readonly size_bytes: number }
  /**
   * What its node says of it. `made_at`: when by the node's own clock, RFC 3339, where it says so. `status_id`: of the
   * status that says it, which counts only while it is its node's last one; null outside of any.
   */
  | ({ readonly type: "reported"; readonly vm_state: string } & FromStatus)
  /** A report of its node did not name it. */
  | ({ readonly type: "missed" } & FromStatus)
  /** A floating IP is bound to one of its NICs, or no more. */
  | {
    readonly type: "floating_ip_bound";
    readonly floating_ip_id: string;
    readonly nic_id: string;
    readonly host_cn_uuid: string;
  }
  /** One that is bound to it is about to be bound elsewhere, or to nothing. */
  | { readonly type: "floating_ip_moves"; readonly floating_ip_id: string }
  | { readonly type: "floating_ip_unbound"; readonly floating_ip_id: string };
