// Work that nobody is told of: jobs appear in the database without a notification, as when every one of them is lost, while
// their nodes' questions for work are held. Each is found by looking. reliability.md, R-09 and T13.
import { randomUUID } from "node:crypto";
import { enqueue, type JobNode, nodeCalls } from "../compute/jobs.ts";
import { okOf, type TestPlane } from "../support/control-plane.ts";
import { sleep } from "./waiting.ts";

export type Unheard = {
  readonly jobs: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly violations: readonly string[];
};

const NODES = 20;
const ROUNDS = 25;
const HOLD_S = 20;
/** Until the questions are held, and then any moment between two looks. */
const PAUSE_MS = 250;
const SPREAD_MS = 250;
/** What is held looks this often (src/db/long-polls.ts), and may then take half a second. */
export const GOAL_MS = 250 + 500;

/**
 * `t` listens to nothing. The jobs of a round come at one moment, since a process tells itself of what it commits. They
 * are of operations that do not exist: the database is good for nothing else afterwards.
 */
export async function takeUnheard(t: TestPlane, random: () => number): Promise<Unheard> {
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
      if (id !== ids[index]) violations.push(`a held question was answered with ${id ?? "nothing"}, not its job`);
      else okOf(await nodeCalls(t, nodes[index]!).complete(id!));
    }
  }
  times_ms.sort((a, b) => a - b);
  const part = (of: number) => times_ms[Math.min(times_ms.length - 1, Math.floor(times_ms.length * of))] ?? NaN;
  return { jobs: times_ms.length, p50_ms: part(0.5), p99_ms: part(0.99), violations };
}
