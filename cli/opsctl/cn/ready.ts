// Fills the column READY in the list of nodes from the server's diagnosis, which `opsctl cn doctor` shows in full.
import type { CnView } from "../../../src/contract/cn.ts";
import type { CnDiagnosis } from "../../../src/contract/node-diagnosis.ts";
import { NO_ADMIN_IP } from "../../../src/lib/node-doctor/finding.ts";
import { inParallel } from "../../internal/in-parallel.ts";
import type { Io } from "../../internal/io.ts";
import { NODES_PATH } from "../node-name.ts";

/** A list of more nodes has no column READY, because the server diagnoses only one node per request. */
export const READY_NODES_MAX = 100;
const REQUESTS_AT_A_TIME = 8;

/**
 * Returns `yes`, `yes (WARNING)` or `no (REASON)` for each node, by UUID. Omits the warning about a missing admin_ip,
 * because the column ADMIN_IP already shows that it is missing. `cn doctor` shows this warning, too.
 */
export async function readyTexts(io: Io, nodes: readonly CnView[]): Promise<ReadonlyMap<string, string>> {
  const texts = await inParallel(REQUESTS_AT_A_TIME, nodes, async ({ server_uuid }) => {
    const { usable, findings } = await io.get<CnDiagnosis>(`${NODES_PATH}/${server_uuid}/doctor`);
    const answer = usable ? "yes" : "no";
    const reason = findings.find(({ level, text }) => level === (usable ? "warns" : "stops") && text !== NO_ADMIN_IP)
      ?.text;
    return reason === undefined ? answer : `${answer} (${reason})`;
  });
  return new Map(nodes.map(({ server_uuid }, at) => [server_uuid, texts[at]!]));
}
