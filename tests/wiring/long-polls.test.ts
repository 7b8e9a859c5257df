// Tests which commits answer long polls directly, and which commits and hints only start a sweep
// (src/wiring/long-polls.ts). Sweeps fail here, so that an answer can only come from the commit.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { RowWrite } from "../../actors/engine/store.ts";
import type { ActorRef } from "../../actors/engine/types.ts";
import { createLongPollsOfServer } from "../../src/wiring/long-polls.ts";

const never = new AbortController().signal;
const job = (op: RowWrite["op"], row: RowWrite["row"]): RowWrite => ({ op, ref: { kind: "job", id: "j" }, row });
const saga = (row: RowWrite["row"]): RowWrite => ({ op: "update", ref: { kind: "saga", id: "o" }, row });

let sweeps = 0;
let hint: (refs: readonly ActorRef[], own: boolean) => void;

function openPolls() {
  const kysely = new Proxy({}, {
    get: () => {
      sweeps += 1;
      throw new Error("no database");
    },
  });
  const hints = {
    onHint: (listener: typeof hint) => {
      hint = listener;
      return () => {};
    },
  };
  return createLongPollsOfServer({ db: { kysely, byKey: { kysely } }, hints, report: () => {} } as never);
}

beforeEach(() => {
  vi.useFakeTimers();
  sweeps = 0;
});
afterEach(() => vi.useRealTimers());

test("a queued job answers the claim of its node, and no other claim", async () => {
  const { polls, committed } = openPolls();
  const [mine, other] = ["n", "m"].map((node) => polls.claims.wait(node, 100, never));
  committed({ rows: [job("insert", { target_cn: "n", state: "pending" })] });
  expect(await mine).toEqual({ work: true });
  await vi.advanceTimersByTimeAsync(100);
  expect([await other, sweeps]).toEqual([null, 0]);
});

test.each(["succeeded", "unwound", "stuck"])(
  "an operation that is %s answers the requests that wait for it",
  async (state) => {
    const { polls, committed } = openPolls();
    const waits = [polls.outcomes.wait("o", 100, never), polls.endings.wait("o", 100, never)];
    const other = polls.outcomes.wait("another", 100, never);
    committed({ rows: [saga({ state })] });
    expect(await Promise.all(waits)).toEqual([{ ended: true }, { ended: true }]);
    await vi.advanceTimersByTimeAsync(100);
    expect(await other).toBeNull();
  },
);

test.each(
  [
    ["an operation that unwinds", "outcomes", saga({ state: "unwinding" })],
    ["an operation that waits for a node", "outcomes", saga({ job_id: "j" })],
    ["a job that leaves a tombstone", "claims", job("update", { state: "cancelled", tombstone: true })],
  ] as const,
)("%s starts a sweep of the waiting polls at once", async (_which, kind, row) => {
  const { polls, committed } = openPolls();
  void polls[kind].wait("o", 100, never);
  committed({ rows: [saga({ steps: {} }), job("update", { state: "in_progress" })] });
  await vi.advanceTimersByTimeAsync(20);
  expect(sweeps).toBe(0);
  committed({ rows: [row] });
  await vi.advanceTimersByTimeAsync(20);
  expect(sweeps).toBe(1);
});

test("a hint of another process starts a sweep for each kind of poll; a hint of this process does not", async () => {
  const { polls } = openPolls();
  for (const kind of ["claims", "endings", "outcomes"] as const) void polls[kind].wait("o", 100, never);
  const refs = [{ kind: "job", id: "j" }, { kind: "saga", id: "o" }];
  hint(refs, true);
  await vi.advanceTimersByTimeAsync(20);
  expect(sweeps).toBe(0);
  hint(refs, false);
  await vi.advanceTimersByTimeAsync(20);
  expect(sweeps).toBe(3);
});
