// The messages of an enrolment claim. They carry ids, codes and hashes, but never the current time.
import type { Of } from "../engine/table.ts";
import type { ReportedIdentity } from "../../src/lib/ids/registration-identity.ts";

/** The code and the token of one registration. */
export type NewTicket = {
  readonly claim_code: string;
  readonly claim_code_ttl_s: number;
  readonly registration_id: string;
  readonly poll_token_sha256: string;
};

export type EnrolmentClaimMessage =
  | ReportedIdentity & NewTicket & {
    readonly type: "register";
    readonly id: string;
    readonly source: string;
    readonly source_bucket: string;
  }
  /** `proof_sha256` is the hash of the claim's current token. */
  | ReportedIdentity & NewTicket & { readonly type: "renew"; readonly source: string; readonly proof_sha256: string }
  /** The same commit copies the claim's description into the node's record. */
  | { readonly type: "approve"; readonly claim_code: string }
  | { readonly type: "tick" };

export type Msg<T extends EnrolmentClaimMessage["type"]> = Of<EnrolmentClaimMessage, T>;
