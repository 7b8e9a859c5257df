// An enrolment claim: the description of a machine in an anonymous registration. A claim ends with a decision about its
// node, or an hour after its last registration (docs/nodes.md, "The claim-code path").

import type { RegistrationView } from "../../src/contract/agent.ts";
import type { Identified } from "../../src/lib/ids/registration-identity.ts";

export type EnrolmentClaimState = Identified & {
  readonly state: "live";
  readonly id: string;
  /** Six characters without the hyphen. */
  readonly claim_code: string;
  readonly expires_at: Date;
  /** The poll token is derived from this id. Only the token's hash is stored. */
  readonly registration_id: string;
  readonly poll_token_sha256: string;
  /** The address of the last registration. */
  readonly source: string;
  /** The source whose quota counts the claim: an IPv4 address or an IPv6 /64. */
  readonly source_bucket: string;
  readonly created_at: Date;
};

/** The reply to a registration. The route derives the poll token from `registration_id`. */
export type RegistrationReply = Omit<RegistrationView, "poll_token"> & { readonly registration_id: string | null };
