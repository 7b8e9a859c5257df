// The history checker. The log gives the order, so that nothing has to be searched for: each check is one pass that
// confirms that the order is legal and agrees with what clients sent and heard.
import type { MemoryTables } from "../support/memory-rows.ts";
import { checkAnswers } from "./check-answers.ts";
import { checkCredentials } from "./check-credentials.ts";
import { checkHeard } from "./check-heard.ts";
import { checkJobs } from "./check-jobs.ts";
import { checkNodes } from "./check-node.ts";
import { checkOrder } from "./check-order.ts";
import { checkPath } from "./check-path.ts";
import { checkPlaced } from "./check-placed.ts";
import { checkRefusals } from "./check-refusals.ts";
import { checkRest } from "./check-rest.ts";
import { checkWindow } from "./check-window.ts";
import type { Counters } from "./counters.ts";
import { gather } from "./evidence.ts";
import type { Journal } from "./journal.ts";
import type { Violation } from "./violation.ts";

/** Everything that the run did and must not do; nothing when all is well. */
export function check(journal: Journal, tables: MemoryTables, counters: Counters): readonly Violation[] {
  const evidence = gather(journal, tables);
  return [
    ...journal.bugs.map((text): Violation => ({ invariant: "no bug", about: "process", text })),
    ...checkPath(evidence),
    ...checkAnswers(evidence),
    ...checkRefusals(evidence),
    ...checkOrder(evidence),
    ...checkNodes(evidence),
    ...checkHeard(evidence),
    ...checkCredentials(evidence),
    ...checkJobs(evidence, counters),
    ...checkPlaced(evidence),
    ...checkWindow(evidence, counters),
    ...checkRest(evidence),
  ];
}
