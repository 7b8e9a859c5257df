// The messages of the boot record of one MAC.
import type { Aggregate, BootArguments } from "../../src/contract/boot.ts";
import type { Offsets } from "../engine/types.ts";
import type { Of } from "../engine/table.ts";

/** The roster's entry for a MAC. */
export type Declared = {
  readonly hostname: string | null;
  readonly nic_tags: readonly string[];
  readonly aggregate?: Aggregate;
};

/**
 * The network in which a machine boots. `within` is the network's range in the pool of admin addresses. If it is
 * absent, the whole pool belongs to the network. The boot record stores all values except `within`.
 */
export type Segment = {
  readonly prefix_len: number;
  readonly gateway: string | null;
  readonly vlan_id?: number;
  readonly resolvers: readonly string[];
  readonly within?: Offsets;
};

/**
 * The input for reserving an address. The messages `seen`, `authorize` and `admit` carry it, and so does a `rescue`
 * that turns rescue on.
 */
type Placement = {
  readonly policy_version: number;
  readonly segment: Segment | null;
  readonly declared: Declared;
  /** A placeholder that the commit replaces with the reserved address. */
  readonly address_token: string;
};

/** A discovered record whose machine announced itself and whose enrolment the policy at `policy_version` allows. */
export type Admitted = Placement & { readonly mac: string; readonly segment: Segment };

export type BootRecordMessage =
  /** The booter saw the machine. `enroll` is the policy's decision at `policy_version`. */
  | {
    readonly type: "seen";
    readonly mac: string;
    readonly by: string;
    readonly enroll: boolean;
  } & Placement
  | { readonly type: "authorize"; readonly mac: string; readonly by: string } & Placement
  | { readonly type: "admit" } & Admitted
  | { readonly type: "reactivate" }
  | { readonly type: "rescue"; readonly on: true } & Placement
  | { readonly type: "rescue"; readonly on: false }
  | { readonly type: "assign"; readonly platform_image: string }
  | { readonly type: "set_arguments"; readonly boot_arguments: BootArguments }
  | { readonly type: "decommission" }
  | { readonly type: "converge"; readonly declared: Declared }
  /** The record's node finished setup. */
  | { readonly type: "enroll"; readonly server_uuid: string; readonly enrollment_pi: string | null }
  /** The record's node was factory reset. */
  | { readonly type: "rearm"; readonly server_uuid: string }
  /** The record's node was removed. */
  | { readonly type: "retire"; readonly server_uuid: string };

export type Msg<T extends BootRecordMessage["type"]> = Of<BootRecordMessage, T>;
