// The messages of a compute node's record. They carry ids, codes, keys and hashes, but never the current time.
import type { Identified, ReportedIdentity } from "../../src/lib/ids/registration-identity.ts";
import type { CnRole, UpgradeReboot } from "../../src/contract/enums.ts";
import type { CnPlacementPatch } from "../../src/contract/cn-placement.ts";
import type { DrainPreview } from "../../src/contract/placement.ts";
import type { DeliveredScript, SetupApproval } from "../../src/contract/setup.ts";
import type { Admitted } from "../boot-record/messages.ts";
import type { NewTicket } from "../enrolment-claim/messages.ts";
import type { Of } from "../engine/table.ts";

/** A new key of a node, as the database stores it. `lookup` finds the key, and the hash verifies it. */
export type NewNodeKey = {
  readonly id: string;
  readonly lookup: string;
  readonly secret_sha256: string;
  /** The key itself, sealed for delivery. */
  readonly sealed: string;
  /** The node's keys for console, metadata and migration tickets, sealed. */
  readonly sealed_tickets: string;
  /** The user for whom the key acts. */
  readonly user_id: string;
};

/** A registration's id, from which its poll token is derived, and the SHA-256 hash of that token. */
type Ticket = Pick<NewTicket, "registration_id" | "poll_token_sha256">;

/** Proof that a registration comes from the node itself: the id of its key, or the hash of its poll token. */
export type NodeProof = { readonly key_id: string } | { readonly poll_token_sha256: string };

export type CnMessage =
  /** An unknown server_uuid registers while an auto-approve window is open. */
  | ReportedIdentity & Ticket & { readonly type: "join"; readonly key: NewNodeKey; readonly operation_id: string }
  /** The same commit creates an enrolment claim of this server_uuid. */
  | Identified & { readonly type: "claimed" }
  | { readonly type: "last_claim_ended" }
  /**
   * If the record has no poll token, the record stores this registration id and token. If it has a token, it keeps that
   * token and its registration id.
   */
  | ReportedIdentity & Ticket & { readonly type: "refresh"; readonly proof: NodeProof }
  | {
    readonly type: "approve";
    readonly claim_code: string;
    /**
     * The claim with this code, as read before the commit. Any change to a claim gives it a new code, so a claim that
     * changed after the read cannot be approved.
     */
    readonly claim: Identified & Ticket & { readonly id: string };
    readonly key: NewNodeKey;
    readonly operation_id: string;
  }
  /**
   * The node authenticated with its key for the first time. So the node has the key, and the sealed copy of the key can
   * be deleted.
   */
  | { readonly type: "key_used"; readonly key_id: string }
  /** The owner of the node's key deletes the key; this message is applied in the same commit. */
  | { readonly type: "key_deleted"; readonly key_id: string }
  | { readonly type: "disable" }
  | { readonly type: "enable" }
  | { readonly type: "set_role"; readonly role: CnRole }
  /** Null clears a value. Undefined leaves the value unchanged. */
  | {
    readonly type: "set_underlay";
    readonly underlay_address?: string | null;
    readonly underlay_mtu?: number | null;
  }
  | {
    readonly type: "set_reservoir";
    readonly reservoir_enabled: boolean | null;
    readonly reservoir_percent: number | null;
    readonly defaults: { readonly enabled: boolean; readonly percent: number };
  }
  | { readonly type: "set_traits"; readonly traits: Readonly<Record<string, string>> }
  | {
    readonly type: "set_placement";
    readonly patch: CnPlacementPatch;
    /** If set, the message has an effect only while the node is cordoned for this reason. */
    readonly while_cordoned_for?: string;
  }
  /**
   * Cordons the node and starts the operation that moves its instances. The preview lists the instances that can move
   * and the instances that cannot. `part_of` is the operation that begins this drain: a drain by label or an upgrade of
   * the node.
   */
  | {
    readonly type: "drain";
    readonly operation_id: string;
    readonly preview: DrainPreview;
    readonly part_of?: string;
  }
  /** Cordons a dead node and starts the operation that creates its instances on other nodes. */
  | { readonly type: "evacuate"; readonly operation_id: string; readonly preview: DrainPreview }
  /**
   * Cordons the node and starts the operation that upgrades it. `part_of` is the upgrade by label that begins this
   * upgrade.
   */
  | UpgradeWanted & {
    readonly type: "upgrade";
    readonly operation_id: string;
    readonly records: readonly UpgradedRecord[];
    readonly part_of: string;
  }
  /** A sha512-crypt hash, or null to clear it. */
  | { readonly type: "set_root_password"; readonly root_password_hash: string | null }
  /** A bare machine announced itself over the AMQP broker. */
  | {
    readonly type: "announce";
    readonly server_uuid: string;
    readonly hostname: string;
    readonly sysinfo: unknown;
    /**
     * The version of the boot policy that applied to the booter's request, and whether this policy requires an open
     * auto-approve window.
     */
    readonly policy_version: number;
    readonly window_needed: boolean;
    /** The MAC with which the machine logged in to the broker; null when the booter did not send one. */
    readonly mac: string | null;
    /**
     * True if the machine has just started, and the booter that sends this message has not begun a setup run of the
     * machine. Missing in messages of older servers.
     */
    readonly started?: boolean;
    /** Discovered boot records of the machine's ports whose enrolment the policy now allows. */
    readonly admitted: readonly Admitted[];
  }
  | {
    readonly type: "approve_setup";
    readonly approval: SetupApproval;
    /** From a database sequence, so no two runs have the same epoch. */
    readonly epoch: number;
    readonly operation_id: string;
  }
  | { readonly type: "take_bundle"; readonly key: NewNodeKey }
  /** A booter is about to send the setup script to the machine. */
  | DeliveredScript & { readonly type: "setup_delivered" }
  /** The machine asked a booter for the values of its setup run, and another booter had sent the setup script. */
  | { readonly type: "hand_over_bundle"; readonly epoch: number; readonly token_sha256: string }
  | {
    readonly type: "setup_progressed";
    readonly epoch: number;
    readonly step: string;
    readonly message: string | null;
    readonly percent: number | null;
  }
  | {
    readonly type: "setup_completed";
    readonly epoch: number;
    /** The platform image for boot records to which no operator assigned an image. */
    readonly enrollment_pi: string | null;
    /** The address that findAdminAddress found in the node's boot records; null if it found none. */
    readonly admin_ip: string | null;
  }
  | { readonly type: "setup_failed"; readonly epoch: number; readonly reason: string }
  /**
   * The operation cn-setup was abandoned. The node returns to awaiting_setup if its current setup run still has this
   * epoch.
   */
  | { readonly type: "revert_setup"; readonly epoch: number; readonly reason: string }
  | ({ readonly type: "factory_reset" } & Confirmed)
  | ({ readonly type: "remove" } & Confirmed)
  | { readonly type: "tick" };

/** The hostname that the operator typed; absent if the caller sent none. */
export type Confirmed = { readonly confirm?: string | undefined };

export type Msg<T extends CnMessage["type"]> = Of<CnMessage, T>;

/**
 * The saga that drains the nodes with a label. The step `begun` commits with the request. The background worker ends
 * the step `drain`.
 */
export const CN_DRAIN_LABEL = { saga: "cn-drain-label", begun: "begin", drain: "drain_nodes" } as const;

/** The parameters of the saga cn-drain-label. */
export type LabelDrainParams = {
  /** The filter as the operator wrote it, for example `rack=a3`. */
  readonly label: string;
  readonly max_unavailable: number;
  /** The nodes, in the order of their drains. `operation_id` is the operation cn-drain of the node. */
  readonly nodes: readonly { readonly server_uuid: string; readonly hostname: string; readonly operation_id: string }[];
};

/**
 * The saga that upgrades the nodes with a label. The step `begun` commits with the request. The background worker ends
 * the step `upgrade`.
 */
export const CN_UPGRADE_LABEL = { saga: "cn-upgrade-label", begun: "begin", upgrade: "upgrade_nodes" } as const;

/** A boot record of the node, and the platform image that the record had before the upgrade. */
export type UpgradedRecord = { readonly mac: string; readonly assigned_pi: string };

/** The image of an upgrade, and whether jobs or an operator restart the machines. */
export type UpgradeWanted = { readonly platform_image: string; readonly reboot: UpgradeReboot };

/** The parameters of the saga cn-upgrade-label. */
export type LabelUpgradeParams = UpgradeWanted & {
  /** The filter as the operator wrote it, for example `rack=a3`. */
  readonly label: string;
  readonly max_unavailable: number;
  /** The nodes, in the order of their upgrades. `operation_id` is the operation cn-upgrade of the node. */
  readonly nodes: readonly { readonly server_uuid: string; readonly hostname: string; readonly operation_id: string }[];
};
