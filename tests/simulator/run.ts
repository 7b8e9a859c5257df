// Runs a plan: first with faults, then without, to find operations that never end.
import { check } from "./checker.ts";
import type { Violation } from "./violation.ts";
import { operate } from "./client.ts";
import { createCluster } from "./cluster.ts";
import { type Counters, newCounters } from "./counters.ts";
import type { Journal } from "./journal.ts";
import type { Plan } from "./plan.ts";
import { openJobs, perform, workOn } from "./script.ts";
import { createEnvironment, type Environment } from "./environment.ts";

export type Verdict = {
  readonly violations: readonly Violation[];
  /** A hash of the transitions, the clients' outcomes and the deaths of processes in the run. */
  readonly trace: number;
  readonly journal: Journal;
};

const STEPS_MAX = 200_000;
/** The number of rounds of background work after the faults. At the end of these rounds, everything must have ended. */
const QUIET_ROUNDS = 6;

export async function run(plan: Plan, counters: Counters = newCounters()): Promise<Verdict> {
  // Errors are frequent in a run, and creating their stack traces would take longer than the rest of the run.
  Error.stackTraceLimit = 0;
  const environment = createEnvironment(plan, counters);
  const cluster = createCluster(environment);
  for (const command of plan.commands) {
    environment.scheduler.after(command.at_ms, () => {
      perform(environment, cluster, command).catch((error) => environment.journal.bugs.push(String(error)));
    });
  }
  await environment.scheduler.run(STEPS_MAX);
  environment.quiet = true;
  for (let round = 0; round < QUIET_ROUNDS; round += 1) {
    for (const process of cluster.living()) process.doom = null;
    openJobs(environment, null).forEach(({ ref, row }, part) => {
      const message = workOn(environment, row, String(row["target_cn"]));
      void operate(environment, cluster, { to: ref, message, command: 1_000 + round, part });
    });
    void cluster.at(round % plan.processes)?.worker.pass();
    await environment.scheduler.run(STEPS_MAX);
  }
  for (const process of cluster.living()) {
    if (!process.engine.idle()) environment.journal.bugs.push("an engine still has messages after everything is quiet");
  }
  const violations = check(environment.journal, environment.database.tables, counters);
  countEnds(environment);
  return { violations, trace: environment.journal.trace(), journal: environment.journal };
}

function countEnds(environment: Environment): void {
  const { counters, journal } = environment;
  for (const each of journal.transitions) {
    if (each.actor_kind === "saga" && each.to_state === "succeeded") counters.saga_succeeded += 1;
    if (each.actor_kind === "saga" && each.to_state === "unwound") counters.saga_unwound += 1;
  }
  for (const each of journal.operations) {
    if (each.message.type === "remove" && each.fault?.message.includes("placed on this node") === true) {
      counters.guard_refused += 1;
    }
  }
}
