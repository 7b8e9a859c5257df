// Inserts jobs into the database without a notification while their nodes' long polls wait, as if every notification
// were lost. The periodic sweep of long polls must find each job (docs/reliability.md, R-09).
import { randomUUID } from "node:crypto";
import { enqueue, type JobNode, nodeCalls } from "../compute/jobs.ts";
import { okOf, type TestControlPlane } from "../support/control-plane.ts";
import { sleep } from "./waiting.ts";

export type Unnotified = {
  readonly jobs: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly violations: readonly string[];
};

const NODES = 20;
const ROUNDS = 25;
const HOLD_S = 20;
/** The jobs are inserted this long after the long polls started, plus a random time of up to SPREAD_MS. */
const PAUSE_MS = 250;
const SPREAD_MS = 250;
/** The goal for the p99: the interval of sweeps (src/db/long-polls.ts), plus half a second for the answer. */
export const GOAL_MS = 250 + 500;

/**
 * Measures how soon nodes get jobs without a notification. `t` must not receive notifications. No job of a round is
 * completed before all long polls of the round are answered, because a completion is a commit, and a process notices
 * its own commits. The operations of the jobs do not exist, so the database cannot be used for anything else
 * afterwards.
 */
export async function takeUnnotified(t: TestControlPlane, random: () => number): Promise<Unnotified> {
  const nodes: JobNode[] = [];
  for (let index = 0; index < NODES; index += 1) nodes.push(await t.approvedNode({ server_uuid: randomUUID() }));
  const times_ms: number[] = [];
  const violations: string[] = [];

  for (let round = 0; round < ROUNDS; round += 1) {
    const asked = nodes.map(async (node) => {
      const { job } = await nodeCalls(t, node).claim({ wait: HOLD_S, running_jobs: [] });
      return { id: job?.id, at_ms: performance.now() };
    });
    await sleep(PAUSE_MS + random() * SPREAD_MS);
    const start_ms = performance.now();
    const ids = await Promise.all(nodes.map((node) => enqueue(t, node)));
    for (const [index, { id, at_ms }] of (await Promise.all(asked)).entries()) {
      times_ms.push(at_ms - start_ms);
      if (id !== ids[index]) violations.push(`a long poll was answered with ${id ?? "nothing"}, not its job`);
      else okOf(await nodeCalls(t, nodes[index]!).complete(id!));
    }
  }
  times_ms.sort((a, b) => a - b);
  const part = (of: number) => times_ms[Math.min(times_ms.length - 1, Math.floor(times_ms.length * of))] ?? NaN;
  return { jobs: times_ms.length, p50_ms: part(0.5), p99_ms: part(0.99), violations };
}
