// The messages of a compute node's record. They carry ids, codes, keys and hashes, but never the time.
import type { Identified, ReportedIdentity } from "../../src/lib/ids/registration-identity.ts";
import type { CnRole } from "../../src/contract/enums.ts";
import type { CnPlacementPatch } from "../../src/contract/cn-placement.ts";
import type { SetupApproval } from "../../src/contract/setup.ts";
import type { Admitted } from "../boot-record/messages.ts";
import type { NewTicket } from "../enrolment-claim/messages.ts";
import type { Of } from "../engine/table.ts";

/** A new per-node key as the database stores it: `lookup` finds it, the hash verifies it, `sealed` delivers it. */
export type NewNodeKey = {
  readonly id: string;
  readonly lookup: string;
  readonly secret_sha256: string;
  /** The key itself, sealed for delivery. */
  readonly sealed: string;
  /** The three ticket keys, sealed. */
  readonly sealed_tickets: string;
  /** The user for whom the key acts. */
  readonly user_id: string;
};

/** The token of a registration: the id from which it is derived, and its hash. */
type Ticket = Pick<NewTicket, "registration_id" | "poll_token_sha256">;

/** Proof that a registration comes from the node itself: the id of its key, or the hash of its poll token. */
export type NodeProof = { readonly key_id: string } | { readonly poll_token_sha256: string };

export type CnMessage =
  /** An unknown server_uuid registers while an auto-approve window is open. */
  | ReportedIdentity & Ticket & { readonly type: "join"; readonly key: NewNodeKey; readonly operation_id: string }
  /** The same commit creates an enrolment claim of this server_uuid. */
  | Identified & { readonly type: "claimed" }
  | { readonly type: "last_claim_ended" }
  /** The ticket is used only for a record that has none. */
  | ReportedIdentity & Ticket & { readonly type: "refresh"; readonly proof: NodeProof }
  | {
    readonly type: "approve";
    readonly claim_code: string;
    /** The claim with this code, as read before the commit. A claim that changes gets another code. */
    readonly claim: Identified & Ticket & { readonly id: string };
    readonly key: NewNodeKey;
    readonly operation_id: string;
  }
  /** The node authenticated with its key for the first time, so it has the key. */
  | { readonly type: "key_used"; readonly key_id: string }
  /** The owner of the node's key deletes it, in the same commit. */
  | { readonly type: "key_deleted"; readonly key_id: string }
  | { readonly type: "disable" }
  | { readonly type: "set_role"; readonly role: CnRole }
  | {
    readonly type: "set_reservoir";
    readonly reservoir_enabled: boolean | null;
    readonly reservoir_percent: number | null;
    readonly defaults: { readonly enabled: boolean; readonly percent: number };
  }
  | { readonly type: "set_traits"; readonly traits: Readonly<Record<string, string>> }
  | { readonly type: "set_placement"; readonly patch: CnPlacementPatch }
  /** A sha512-crypt hash, or null to clear it. */
  | { readonly type: "set_root_password"; readonly root_password_hash: string | null }
  /** A bare machine announced itself over the AMQP broker. */
  | {
    readonly type: "announce";
    readonly server_uuid: string;
    readonly hostname: string;
    readonly sysinfo: unknown;
    /** The policy that applied to the booter's request, and whether it requires an open enrolment window. */
    readonly policy_version: number;
    readonly window_needed: boolean;
    /** The port with whose login the machine connected to the broker; null when the caller names none. */
    readonly mac: string | null;
    /** Discovered boot records of its ports that the policy now admits. */
    readonly admitted: readonly Admitted[];
  }
  | {
    readonly type: "approve_setup";
    readonly approval: SetupApproval;
    /** From a sequence that never repeats. */
    readonly epoch: number;
    readonly operation_id: string;
  }
  | { readonly type: "take_bundle"; readonly key: NewNodeKey }
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
    /** The image for boot records without an image from an operator. */
    readonly enrollment_pi: string | null;
    /** The address of its boot record; null when no port has one. */
    readonly admin_ip: string | null;
  }
  | { readonly type: "setup_failed"; readonly epoch: number; readonly reason: string }
  /** The operation was abandoned: the node reverts if this is still its run. */
  | { readonly type: "revert_setup"; readonly epoch: number; readonly reason: string }
  | { readonly type: "factory_reset" }
  | { readonly type: "remove" }
  | { readonly type: "tick" };

/** The message of one type. */
export type Msg<T extends CnMessage["type"]> = Of<CnMessage, T>;
