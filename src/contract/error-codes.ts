// Every error_code that Berth answers with. Document 4, 0.2; those that it does not have are ours. A Fault takes its code
// from here, so that none is used that callers cannot look up. A later version may add some.

/** The HTTP status that a code comes with, and when: a clause. */
export type CodeMeaning = { readonly status: number; readonly when: string };

/** Code to meaning, in the order of the statuses. */
export const ERROR_CODES = {
  BadRequest: { status: 400, when: "a value in the body breaks a rule" },
  MissingScope: { status: 400, when: "a selector that the call needs is missing" },
  ScopeNotAccepted: { status: 400, when: "a selector is of a kind that the call does not take" },
  ScopeNotImplemented: { status: 400, when: "a list of images or SSH keys is asked for another scope than public" },
  InvalidRequest: { status: 400, when: "half of a filter that has two parts" },
  ScanLimitExceeded: { status: 400, when: "a list has more rows than one answer may walk" },
  SubnetNotExternal: { status: 400, when: "a public address is asked of a network that is not external" },
  RootIsRoot: { status: 400, when: "a capability of the root operator is to be changed" },
  Unauthenticated: { status: 401, when: "the credential is missing or not valid" },
  Forbidden: { status: 403, when: "the credential does not reach the action" },
  NotFound: { status: 404, when: "it is missing, or not for the caller to see" },
  Conflict: { status: 409, when: "a state or a uniqueness rule forbids it" },
  ClaimCodeTaken: { status: 409, when: "no free claim code was found; register again" },
  NicTagInUse: { status: 409, when: "a NIC tag is deleted that something stands on" },
  NicTagNotProvided: { status: 409, when: "no such NIC tag, or the node does not offer it" },
  PinConflict: { status: 409, when: "a node is pinned to a tenant outside the silo it is pinned to" },
  PolicyChanged: { status: 409, when: "the boot policy changed meanwhile; try again" },
  PoolExhausted: { status: 409, when: "no address is free" },
  QuotaExceeded: { status: 409, when: "the quota of the project or of its tenant does not allow it" },
  SubnetCidrOverlap: { status: 409, when: "an external subnet overlaps another" },
  TooManyRequests: { status: 429, when: "a rate limit; Retry-After says how long to wait" },
  Internal: { status: 500, when: "a fault of the server; its log has the request id" },
  OperationFailed: { status: 502, when: "the node did not do it; the message has its reason" },
  ProvisionFailed: { status: 502, when: "the node did not make the instance; the message has its reason" },
  CapacityExhausted: { status: 503, when: "the nodes that could take the instance filled up meanwhile" },
} as const satisfies Record<string, CodeMeaning>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** The codes alone, in the same order. */
export const ERROR_CODE_NAMES = Object.keys(ERROR_CODES) as ErrorCode[];

/** The table in words: `BadRequest (400): a value in the body breaks a rule; ...`. */
export const ERROR_CODES_TEXT = ERROR_CODE_NAMES
  .map((name) => `${name} (${ERROR_CODES[name].status}): ${ERROR_CODES[name].when}`)
  .join("; ");
