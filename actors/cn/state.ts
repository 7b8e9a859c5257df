// The record of one compute node, tagged by state: the columns of the table cn, and the columns that the view cn_loaded
// joins.
import type { At } from "../engine/table.ts";
import type { CnRole } from "../../src/contract/enums.ts";
import type { CnConflict, SetupProgress } from "../../src/contract/cn.ts";
import { type CnPlacementRules, UNRESTRICTED } from "../../src/contract/cn-placement.ts";
import type { SetupApproval, SetupDelivery } from "../../src/contract/setup.ts";

type CnBase = {
  readonly server_uuid: string;
  readonly hostname: string;
  readonly role: CnRole;
  readonly admin_ip: string | null;
  readonly sysinfo: unknown;
  readonly console_listen_port: number | null;
  readonly console_tls_spki_sha256_hex: string | null;
  /** The address and the MTU in bytes on the underlay, as the node reported them. */
  readonly underlay_address: string | null;
  readonly underlay_mtu: number | null;
  /** The values that an operator set. They replace the values that the node reports. */
  readonly underlay_address_set: string | null;
  readonly underlay_mtu_set: number | null;
  readonly registered_at: Date;
  readonly last_setup_error: string | null;
  readonly setup_progress: SetupProgress | null;
  /** The body of the accepted approve-setup request. */
  readonly disk_layout: SetupApproval | null;
  /** The canonical MACs of the node's network ports. */
  readonly macs: readonly string[];
  /** The serial number in the node's sysinfo. */
  readonly serial: string | null;
  /** The sysinfo that an authenticated booter announced; null if no booter announced the node. */
  readonly announced_sysinfo: unknown;
  readonly announced_macs: readonly string[];
  /**
   * True if an anonymous registration created the record. An approval, a disable or an announce through a booter sets
   * it to false.
   */
  readonly unproven: boolean;
  readonly conflict: CnConflict | null;
  readonly root_password_hash: string | null;
  readonly setup_operation_id: string | null;
  readonly bundle_taken: boolean;
  /**
   * The delivery of the setup script of the latest run. Null before the delivery, and again when the run has failed or
   * has passed its deadline, or when the node is disabled or reset.
   */
  readonly setup_delivery: SetupDelivery | null;
  // The view cn_loaded joins the fields below.
  readonly last_seen: Date | null;
  readonly last_status: unknown;
  readonly agent_version: string | null;
  readonly reservoir_enabled: boolean | null;
  readonly reservoir_percent: number | null;
  readonly traits: Readonly<Record<string, string>>;
  readonly placement: CnPlacementRules;
  /** The MACs of the boot records that are bound to the node. */
  readonly bound_macs: readonly string[];
  /** The live enrolment claims, the newest last. */
  readonly claims: readonly ClaimSummary[];
};

/** An enrolment claim in the record of its node, without the sysinfo. */
export type ClaimSummary = {
  readonly id: string;
  readonly claim_code: string;
  readonly expires_at: string;
  readonly hostname: string;
  readonly admin_ip: string | null;
  readonly serial: string | null;
  readonly macs: readonly string[];
  readonly source: string;
  readonly registration_id: string;
  readonly poll_token_sha256: string;
};

/**
 * The node's key. `pending_credential` is the sealed copy of the key. The copy is deleted when the node has used the
 * key or has sent the first report of its setup run, and when the node is disabled.
 */
type Credentialed = {
  readonly bound_api_key_id: string;
  readonly pending_credential: string | null;
  readonly ticket_keys: string | null;
};

type NoKey = {
  readonly bound_api_key_id: null;
  readonly pending_credential: null;
  readonly ticket_keys: null;
};
type MaybeKey = {
  readonly bound_api_key_id: string | null;
  readonly pending_credential: string | null;
  readonly ticket_keys: string | null;
};
/** The epoch identifies a setup run. It is set only while a run is in progress. */
type NoSetup = { readonly setup_epoch: null };
/** The registration's id, and the hash of the token with which the agent polls the state of the node. */
type MaybeRegistered = { readonly registration_id: string | null; readonly poll_token_sha256: string | null };

export type CnState =
  // A pending node that was disabled before keeps its key. The key has the same rights as the key of a disabled node.
  | (CnBase & MaybeRegistered & MaybeKey & NoSetup & {
    readonly state: "pending";
    readonly approved_at: Date | null;
  })
  | (CnBase & MaybeRegistered & Credentialed & NoSetup & {
    readonly state: "approved";
    readonly approved_at: Date;
  })
  | (CnBase & MaybeRegistered & MaybeKey & NoSetup & {
    readonly state: "disabled";
    readonly approved_at: Date | null;
  })
  | (CnBase & MaybeRegistered & NoKey & NoSetup & {
    readonly state: "awaiting_setup";
    readonly approved_at: null;
  })
  | (CnBase & MaybeRegistered & MaybeKey & {
    readonly state: "setting_up";
    readonly approved_at: Date;
    readonly setup_epoch: number;
    readonly setup_operation_id: string;
    readonly disk_layout: SetupApproval;
  });

/** The record in one state. */
export type On<S extends CnState["state"]> = At<CnState, S>;

/** Returns the name of the record in the audit chain. */
export function resource(of: { readonly server_uuid: string }): string {
  return `Cn::"${of.server_uuid}"`;
}

/** The initial values of a record's columns, on both the claim-code path and the netboot path. */
export const BLANK = {
  role: "tenant",
  underlay_address: null,
  underlay_mtu: null,
  underlay_address_set: null,
  underlay_mtu_set: null,
  last_setup_error: null,
  setup_progress: null,
  disk_layout: null,
  conflict: null,
  root_password_hash: null,
  setup_epoch: null,
  setup_operation_id: null,
  bundle_taken: false,
  setup_delivery: null,
  last_seen: null,
  last_status: null,
  agent_version: null,
  reservoir_enabled: null,
  reservoir_percent: null,
  traits: {},
  placement: UNRESTRICTED,
  bound_macs: [],
  claims: [],
  announced_sysinfo: null,
  announced_macs: [],
  unproven: false,
} as const;

/**
 * Columns that only the previous release uses. They contain a claim code if a process of that release created the
 * record and the record is pending.
 */
export const NO_CODE = { claim_code: null, claim_code_expires_at: null } as const;

/**
 * Returns the MAC addresses of the known network ports. A port that a booter announced remains known, even if the agent
 * does not report the port.
 */
export function knownPorts({ announced_macs, macs }: CnState): readonly string[] {
  return [...announced_macs, ...macs];
}
