// Defines all error codes. A Fault takes its code from here, so that the API description lists every code that is used.
// Later versions may add codes.

/** The HTTP status of a code, and a clause that says when the code is used. */
export type CodeMeaning = { readonly status: number; readonly when: string };

/** The codes, ordered by status. */
export const ERROR_CODES = {
  BadRequest: { status: 400, when: "a value in the body breaks a rule" },
  MissingScope: { status: 400, when: "a required selector is missing" },
  ScopeNotAccepted: { status: 400, when: "this request does not accept this selector" },
  ScopeNotImplemented: { status: 400, when: "the list of public images or SSH keys was requested with another scope" },
  InvalidRequest: { status: 400, when: "only one of two filters that belong together was sent" },
  ScanLimitExceeded: { status: 400, when: "the list has too many rows for one answer" },
  SubnetNotExternal: { status: 400, when: "a public address was requested from a network that is not external" },
  RootIsRoot: { status: 400, when: "the capabilities of the root operator cannot be changed" },
  Unauthenticated: { status: 401, when: "the credential is missing or not valid" },
  Forbidden: { status: 403, when: "the action is not permitted with this credential" },
  NotFound: { status: 404, when: "the object does not exist, or the caller may not see it" },
  Conflict: { status: 409, when: "the request conflicts with the current state or a uniqueness rule" },
  ClaimCodeTaken: { status: 409, when: "no free claim code was found; register again" },
  DeletionProtected: { status: 409, when: "the instance is protected against deletion" },
  FirewallRulesChanged: { status: 409, when: "the firewall rules of the VPC have changed; try again" },
  NicTagInUse: { status: 409, when: "the NIC tag is in use" },
  NicTagNotProvided: { status: 409, when: "the NIC tag does not exist, or the node does not offer it" },
  PinConflict: { status: 409, when: "the node would be pinned to a silo and to a tenant of another silo" },
  PolicyChanged: { status: 409, when: "the boot policy has changed; try again" },
  PoolExhausted: { status: 409, when: "no address is free" },
  QuotaExceeded: { status: 409, when: "the quota of the project or its tenant is exceeded" },
  SubnetCidrOverlap: { status: 409, when: "an external subnet overlaps another" },
  TooManyRequests: { status: 429, when: "a rate limit was reached; Retry-After says how long to wait" },
  Internal: { status: 500, when: "an internal error; the server's log has the request id" },
  OperationFailed: { status: 502, when: "the node failed; the message has its reason" },
  ProvisionFailed: { status: 502, when: "the node could not create the instance; the message has its reason" },
  CapacityExhausted: { status: 503, when: "the eligible nodes have no capacity left" },
} as const satisfies Record<string, CodeMeaning>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** The names of the codes, in the same order. */
export const ERROR_CODE_NAMES = Object.keys(ERROR_CODES) as ErrorCode[];

/** The codes as one text: `BadRequest (400): a value in the body breaks a rule; ...`. */
export const ERROR_CODES_TEXT = ERROR_CODE_NAMES
  .map((name) => `${name} (${ERROR_CODES[name].status}): ${ERROR_CODES[name].when}`)
  .join("; ");
