// Defines the limits of a request's body. Some bodies are longer than all others: the documents of a site with 10,000
// nodes, and the reports of a node with 2,000 VMs. Only callers that may send such a body get the higher limits,
// because the body is read and checked before the route's authorization (docs/reliability.md, S-28).
import type { Principal } from "../auth/principal.ts";
import {
  BODY_BYTES_MAX,
  DOCUMENT_BYTES_MAX,
  DOCUMENT_ELEMENTS_MAX,
  JSON_ELEMENTS_MAX,
  REPORT_BYTES_MAX,
  REPORT_ELEMENTS_MAX,
} from "../contract/limits.ts";

export type BodyLimits = {
  readonly bytes_max: number;
  /** Array items and object members of a JSON body. */
  readonly elements_max: number;
};

export const BODY_LIMITS: BodyLimits = { bytes_max: BODY_BYTES_MAX, elements_max: JSON_ELEMENTS_MAX };
const REPORT: BodyLimits = { bytes_max: REPORT_BYTES_MAX, elements_max: REPORT_ELEMENTS_MAX };
const DOCUMENT: BodyLimits = { bytes_max: DOCUMENT_BYTES_MAX, elements_max: DOCUMENT_ELEMENTS_MAX };

/** The routes to which a node sends the state of all its VMs and VPCs. */
const REPORTS = /^\/v1\/agent\/(?:poll|status|network\/poll)$/;
/** The routes with a document of the whole site, or with all parts of a machine. */
const DOCUMENTS = /^\/v2\/(?:cn-boot-policy|cn-boot-roster|booter\/cns\/[^/]+\/hardware)$/;

/**
 * Returns the limits of a body.
 * @param path the path of the request, without its query
 * @param principal the caller; undefined if the caller has no valid credential
 */
export function bodyLimits(path: string, principal: Principal | undefined): BodyLimits {
  if (principal?.kind !== "user") return BODY_LIMITS;
  if (principal.bound_cn !== null) return REPORTS.test(path) ? REPORT : BODY_LIMITS;
  return principal.is_root && DOCUMENTS.test(path) ? DOCUMENT : BODY_LIMITS;
}
