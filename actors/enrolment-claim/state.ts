// An enrolment claim: what one anonymous registration says of a machine, until an operator approves its code or its hour
// is over. Document 4, Fixed here, Enrolment claims.

import type { RegistrationView } from "../../src/contract/agent.ts";
import type { Identified } from "../../src/lib/ids/registration-identity.ts";

export type EnrolmentClaimState = Identified & {
  readonly state: "live";
  readonly id: string;
  /** Six characters without the hyphen. */
  readonly claim_code: string;
  readonly expires_at: Date;
  /** The poll token is derived from this id; only its hash is kept. */
  readonly registration_id: string;
  readonly poll_token_sha256: string;
  /** The address of the last registration. */
  readonly source: string;
  /** Whose quota the claim draws on: an IPv4 address or an IPv6 /64. */
  readonly source_bucket: string;
  readonly created_at: Date;
};

/** What a registration answers. The poll token is not in it: the route derives it from `registration_id`. */
export type RegistrationReply = Omit<RegistrationView, "poll_token"> & { readonly registration_id: string | null };
