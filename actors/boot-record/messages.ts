// What the boot record of one MAC can be told.
import type { Aggregate } from "../../src/contract/boot.ts";
import type { Of } from "../engine/table.ts";

/** What the roster declares for a MAC. */
export type Declared = {
  readonly hostname: string | null;
  readonly nic_tags: readonly string[];
  readonly aggregate?: Aggregate;
};

/** The admin network as it is written into a record; null when the policy has none. */
export type Segment = {
  readonly prefix_len: number;
  readonly gateway: string | null;
  readonly resolvers: readonly string[];
};

/** What a record needs to get an address; see `seen`. */
type Place = {
  readonly policy_version: number;
  readonly segment: Segment | null;
  readonly declared: Declared;
  /** Takes the place of the address until the commit call knows it. */
  readonly address_token: string;
};

/** A discovered record that the policy at `policy_version` lets in since its machine announced itself. */
export type Admitted = Place & { readonly mac: string; readonly segment: Segment };

export type BootRecordMessage =
  /** The booter saw the machine. `enroll` is the policy's verdict at `policy_version`. */
  | {
    readonly type: "seen";
    readonly mac: string;
    readonly by: string;
    readonly enroll: boolean;
  } & Place
  | { readonly type: "authorize"; readonly mac: string; readonly by: string } & Place
  | { readonly type: "admit" } & Admitted
  | { readonly type: "reactivate" }
  | { readonly type: "rescue"; readonly on: true } & Place
  | { readonly type: "rescue"; readonly on: false }
  | { readonly type: "assign"; readonly platform_image: string }
  | { readonly type: "decommission" }
  | { readonly type: "converge"; readonly declared: Declared }
  /** Its node finished setup. */
  | { readonly type: "enroll"; readonly server_uuid: string; readonly enrollment_pi: string | null }
  /** Its node was reset to bare. */
  | { readonly type: "rearm"; readonly server_uuid: string }
  /** Its node was removed. */
  | { readonly type: "retire"; readonly server_uuid: string };

/** The message of one type. */
export type Msg<T extends BootRecordMessage["type"]> = Of<BootRecordMessage, T>;
