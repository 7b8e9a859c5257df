// What a compute node's record can be told. Ids, codes, keys and hashes come with the message; the time does not.
import type { Identified, Said } from "../../src/lib/ids/registration-identity.ts";
import type { CnRole } from "../../src/contract/enums.ts";
import type { CnPlacementPatch } from "../../src/contract/cn-placement.ts";
import type { SetupApproval } from "../../src/contract/setup.ts";
import type { Admitted } from "../boot-record/messages.ts";
import type { NewTicket } from "../enrolment-claim/messages.ts";
import type { Of } from "../engine/table.ts";

/** A fresh per-node key as the database keeps it: found by `lookup`, checked by its hash, delivered from `sealed`. */
export type NewNodeKey = {
  readonly id: string;
  readonly lookup: string;
  readonly secret_sha256: string;
  /** The whole key, sealed for delivery. */
  readonly sealed: string;
  /** The three ticket keys, sealed. */
  readonly sealed_tickets: string;
  /** The user the key acts for. */
  readonly user_id: string;
};

/** The token of a registration, by the id that it is derived from and by its hash. */
type Ticket = Pick<NewTicket, "registration_id" | "poll_token_sha256">;

/** What shows that a registration comes from the node itself: its key, by id, or its poll token, by hash. */
export type NodeProof = { readonly key_id: string } | { readonly poll_token_sha256: string };

export type CnMessage =
  /** A server_uuid that nothing is known of registers while an auto-approve window is open. */
  | Said & Ticket & { readonly type: "join"; readonly key: NewNodeKey; readonly operation_id: string }
  /** An enrolment claim of this server_uuid is made in the same commit. */
  | Identified & { readonly type: "claimed" }
  | { readonly type: "last_claim_ended" }
  /** The ticket is used only for a record that has none. */
  | Said & Ticket & { readonly type: "refresh"; readonly proof: NodeProof }
  | {
    readonly type: "approve";
    readonly claim_code: string;
    /** The claim that has this code, as it was read: a claim that changes gets another code. */
    readonly claim: Identified & Ticket & { readonly id: string };
    readonly key: NewNodeKey;
    readonly operation_id: string;
  }
  /** The node authenticated with its key for the first time: it has it. */
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
  /** A bare machine told of itself over the boot bus. */
  | {
    readonly type: "announce";
    readonly server_uuid: string;
    readonly hostname: string;
    readonly sysinfo: unknown;
    /** The policy the booter's request was judged by, and whether it asks for an open enrolment window. */
    readonly policy_version: number;
    readonly window_needed: boolean;
    /** The port whose login the machine used on the boot bus; null when the caller names none. */
    readonly mac: string | null;
    /** Discovered boot records of its ports that the policy lets in now. */
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
    /** Assigned to the boot records that no operator gave another image. */
    readonly enrollment_pi: string | null;
    /** The address of its boot record; null when none of its ports has one. */
    readonly admin_ip: string | null;
  }
  | { readonly type: "setup_failed"; readonly epoch: number; readonly reason: string }
  /** The operation was abandoned: the node goes back, if that run is still the one. */
  | { readonly type: "revert_setup"; readonly epoch: number; readonly reason: string }
  | { readonly type: "factory_reset" }
  | { readonly type: "remove" }
  | { readonly type: "tick" };

/** The message of one type. */
export type Msg<T extends CnMessage["type"]> = Of<CnMessage, T>;
