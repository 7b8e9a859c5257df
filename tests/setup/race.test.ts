// A completion report, a failure report and the deadline compete in two processes on one database (docs/reliability.md
// R-32 and INV-13). Exactly one of them takes effect. The key is deleted if the node was reverted, and is kept
// otherwise.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Answer, okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { expectInvariants } from "./invariants.ts";
import { keysOf, permutations, putPolicy, recordStates, report, type Run, settingUp, showNode } from "./machine.ts";

let t: TestControlPlane;
let other: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
  other = await openTestControlPlane({ databaseUrl: t.databaseUrl });
  okOf(await putPolicy(t));
});
afterAll(async () => {
  await other.close();
  await t.close();
});
afterEach(() => expectInvariants(t.db));

const CONTENDERS = ["complete", "failed", "deadline"] as const;
type Contender = (typeof CONTENDERS)[number];

const ACTIONS: Record<Contender, (run: Run) => Promise<Answer | null>> = {
  complete: (run) => report(t, run, "complete", { epoch: run.epoch }),
  failed: (run) => report(other, run, "failed", { epoch: run.epoch }),
  deadline: async () => {
    await t.advance(2_701);
    await Promise.all([t.plane.pass(), other.plane.pass()]);
    return null;
  },
};

const EVENTS: Record<string, Contender> = { setup_completed: "complete", setup_failed: "failed", tick: "deadline" };

/** Runs the background work, checks that only one contender took effect, and returns this contender. */
async function winnerOf(run: Run, answers: readonly (Answer | null)[]): Promise<Contender> {
  await t.plane.pass();
  const operation = (await t.call("GET", `/v1/operations/${run.operation_id}?wait=10`)).body;
  const { rows } = await t.db.query<{ event: string }>(
    "select event from transition where actor_id = $1 and from_state = 'setting_up' and to_state <> from_state",
    [run.server_uuid],
  );
  expect(rows.length).toBe(1);
  const winner = EVENTS[rows[0]?.event ?? ""];
  if (winner === undefined) throw new Error(`ended by ${rows[0]?.event}`);

  const completed = winner === "complete";
  expect((await showNode(t, run)).state).toBe(completed ? "approved" : "awaiting_setup");
  expect((await keysOf(t, run)).length).toBe(completed ? 1 : 0);
  const heartbeat = await t.call("POST", "/v1/agent/heartbeat", { key: run.api_key });
  expect(heartbeat.status).toBe(completed ? 200 : 401);
  expect(new Set(await recordStates(t, run))).toEqual(new Set([completed ? "enrolled" : "enrolling"]));
  expect(operation.state).toBe(completed ? "succeeded" : "unwound");
  const [complete, failed] = answers;
  expect([complete?.status, failed?.status]).toEqual([
    winner === "complete" ? 200 : 409,
    winner === "failed" ? 200 : 409,
  ]);
  return winner;
}

test.each(permutations(CONTENDERS))("%s, then %s, then %s: the first takes effect", async (...order) => {
  const run = await settingUp(t);
  const answers = new Map<Contender, Answer | null>();
  for (const contender of order) answers.set(contender, await ACTIONS[contender](run));
  expect(await winnerOf(run, CONTENDERS.map((each) => answers.get(each) ?? null))).toBe(order[0]);
});

const ROUNDS = 30;
/** The time limit of all rounds. On two cores that other programs also used, the rounds took 20 s to 33 s. */
const ROUNDS_LIMIT_MS = 180_000;
/** The first head start that is not 0. On an idle machine, a report takes about this time. */
const HEAD_START_MS = 10;

describe("concurrent", () => {
  test(
    `complete, failed and deadline: exactly one takes effect in each of ${ROUNDS} rounds, and each of the three wins a round`,
    async () => {
      const orders = permutations(CONTENDERS);
      const won = new Set<Contender>();
      // The deadline needs more steps than a report, and would never win without a head start. A contender's head start
      // doubles in each round in which it starts first and loses. So the round that it wins is a close race.
      const head_starts_ms: Record<Contender, number> = { complete: 0, failed: 0, deadline: 0 };
      for (let round = 0; round < ROUNDS; round += 1) {
        const run = await settingUp(t);
        const [first = "complete", ...others] = orders[round % orders.length] ?? [];
        const started = new Map([[first, ACTIONS[first](run)]]);
        if (head_starts_ms[first] > 0) await new Promise((wake) => setTimeout(wake, head_starts_ms[first]));
        for (const contender of others) started.set(contender, ACTIONS[contender](run));
        const answers = await Promise.all(CONTENDERS.map((each) => started.get(each)));
        const winner = await winnerOf(run, answers.map((answer) => answer ?? null));
        won.add(winner);
        head_starts_ms[first] = winner === first ? 0 : Math.max(HEAD_START_MS, 2 * head_starts_ms[first]);
      }
      expect([...won].sort()).toEqual([...CONTENDERS].sort());
    },
    ROUNDS_LIMIT_MS,
  );
});
