// Checks a history. The log gives the order of events, so the checks need not search for a possible order. Each check
// reads the log once, and verifies that its order is legal and agrees with the clients' requests and answers.
import type { MemoryTables } from "../support/memory-rows.ts";
import { checkAnswers } from "./check-answers.ts";
import { checkCredentials } from "./check-credentials.ts";
import { checkContents } from "./check-contents.ts";
import { checkJobs } from "./check-jobs.ts";
import { checkLamps } from "./check-lamps.ts";
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

/** Returns the violations of the run. */
export function check(journal: Journal, tables: MemoryTables, counters: Counters): readonly Violation[] {
  const evidence = gather(journal, tables);
  return [
    ...journal.bugs.map((text): Violation => ({ invariant: "no bug", about: "process", text })),
    ...checkPath(evidence),
    ...checkAnswers(evidence),
    ...checkRefusals(evidence),
    ...checkOrder(evidence),
    ...checkNodes(evidence),
    ...checkContents(evidence),
    ...checkCredentials(evidence),
    ...checkJobs(evidence, counters),
    ...checkLamps(evidence, counters),
    ...checkPlaced(evidence),
    ...checkWindow(evidence, counters),
    ...checkRest(evidence),
  ];
}
