// Fills the column READY in the list of nodes from the server's diagnosis, which `opsctl cn doctor` shows in full.
import type { CnView } from "../../../src/contract/cn.ts";
import type { CnDiagnosis } from "../../../src/contract/node-diagnosis.ts";
import { NO_ADMIN_IP, NO_UNDERLAY_ADDRESS } from "../../../src/lib/node-doctor/finding.ts";
import { inParallel } from "../../internal/in-parallel.ts";
import type { Io } from "../../internal/io.ts";
import { NODES_PATH } from "../node-name.ts";

/** A list of more nodes has no column READY, because the server diagnoses only one node per request. */
export const READY_NODES_MAX = 100;
const REQUESTS_AT_A_TIME = 8;
/** Warnings that the column READY omits: small sites run without these addresses. */
const OMITTED: readonly string[] = [NO_ADMIN_IP, NO_UNDERLAY_ADDRESS];

/**
 * Returns `yes`, `yes (WARNING)` or `no (REASON)` for each node, by UUID. Omits warnings about missing addresses, which
 * `cn doctor` shows.
 */
export async function readyTexts(io: Io, nodes: readonly CnView[]): Promise<ReadonlyMap<string, string>> {
  const texts = await inParallel(REQUESTS_AT_A_TIME, nodes, async ({ server_uuid }) => {
    const { usable, findings } = await io.get<CnDiagnosis>(`${NODES_PATH}/${server_uuid}/doctor`);
    const answer = usable ? "yes" : "no";
    const level = usable ? "warns" : "stops";
    const reason = findings.find((finding) => finding.level === level && !OMITTED.includes(finding.text))?.text;
    return reason === undefined ? answer : `${answer} (${reason})`;
  });
  return new Map(nodes.map(({ server_uuid }, at) => [server_uuid, texts[at]!]));
}
