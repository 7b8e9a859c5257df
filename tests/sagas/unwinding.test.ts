// Tests how a saga is undone when steps fail or a process dies. In the end the database must be as before the saga, or
// the saga is stuck and shows the reason (docs/reliability.md).
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { FAULT_POINTS } from "../../actors/engine/ports.ts";
import { UNDO_TRIES_MAX } from "../../actors/saga/transition.ts";
import { openProbe, type ProbePlane, STEPS } from "./probe-saga.ts";

let p: ProbePlane;
beforeAll(async () => {
  p = await openProbe();
});
afterAll(() => p.end());
afterEach(() => p.open());

/** Steps that are undone when the last step fails. The undo of `work` is a job. */
const UNDONE = STEPS.slice(0, -1);
const WRITES = UNDONE.filter((step) => step !== "work");
const BACKOFF_MS = [1_000, 2_000, 4_000, 8_000];

/** Starts a saga and refuses its last step, so that its next action is to undo `step`. */
async function unwindingAt(step: (typeof UNDONE)[number]) {
  const started = await p.start();
  await p.close("finish:do");
  await p.reach(started.id, step, "unwinding");
  return started;
}

describe.each(UNDONE)("the undo of %s", (step) => {
  test("takes effect once when two processes run it at once", async () => {
    const started = await unwindingAt(step);
    const [one, two] = [p.newProcess(), p.newProcess()];
    await Promise.all([one.tick(started.id), two.tick(started.id), one.tick(started.id)]);
    expect((await p.finish(started.id)).state).toBe("unwound");
    expect(await p.left(started)).toEqual([]);
  });

  test.each(FAULT_POINTS)("continues in another process when the first process dies %s", async (dies) => {
    const started = await unwindingAt(step);
    const dying = p.newProcess({ dies });
    await dying.tick(started.id).catch(() => {});
    expect(dying.faults()).toBe(1);
    expect((await p.finish(started.id, p.newProcess())).state).toBe("unwound");
    expect(await p.left(started)).toEqual([]);
  });

  test("that keeps failing leaves the saga stuck with the step's name, and does not undo the earlier steps", async () => {
    const started = await unwindingAt(step);
    await p.close(`${step}:undo`);
    for (let tries = 1; tries <= UNDO_TRIES_MAX; tries++) {
      expect((await p.row(started.id)).state).toBe("unwinding");
      await p.main.tick(started.id);
      await p.advance(60_000);
    }
    const { state, stuck_reason, steps } = await p.row(started.id);
    expect(state).toBe("stuck");
    expect(stuck_reason).toBe(`undo of step ${step}: the gate ${step}:undo is closed`);
    expect(steps[step]).toMatchObject({ status: "undo_failed", undo_error: `the gate ${step}:undo is closed` });
    for (const below of UNDONE.slice(0, UNDONE.indexOf(step))) expect(steps[below]?.["status"]).toBe("succeeded");
    await p.main.pass();
    expect((await p.row(started.id)).state).toBe("stuck");
    expect(await p.left(started)).not.toEqual([]);

    await p.open(`${step}:undo`);
    expect((await p.main.engine.send({ kind: "saga", id: started.id }, { type: "abandon" })).ok).toBe(true);
    expect((await p.finish(started.id)).state).toBe("unwound");
    expect(await p.left(started)).toEqual([]);
  });
});

describe.each([1, 2, 3, 4])(
  "an undo that fails %d times and then succeeds leaves the database as before",
  (failures) => {
    test.each(WRITES)("for step %s", async (step) => {
      const started = await unwindingAt(step);
      await p.close(`${step}:undo`);
      for (let tries = 1; tries <= failures; tries++) {
        await p.main.tick(started.id);
        const waiting = await p.row(started.id);
        expect(waiting.steps[step]?.["status"]).toBe("undo_failed");
        await p.advance((BACKOFF_MS[tries - 1] ?? 0) - 500);
        // A tick before the time of the next try changes nothing.
        await p.main.tick(started.id);
        expect(await p.row(started.id)).toEqual(waiting);
        await p.advance(500);
      }
      await p.open(`${step}:undo`);
      expect((await p.finish(started.id)).state).toBe("unwound");
      expect(await p.left(started)).toEqual([]);
    });
  },
);

describe("abandoning a saga", () => {
  const abandon = (id: string) => p.main.engine.send({ kind: "saga", id }, { type: "abandon" });

  test.each(STEPS)("before step %s undoes the steps that are done and nothing else", async (step) => {
    const started = await p.start();
    await p.reach(started.id, step);
    expect((await abandon(started.id)).ok).toBe(true);
    expect(await p.finish(started.id)).toMatchObject({ state: "unwound", error: "abandoned by an operator" });
    expect(await p.left(started)).toEqual([]);
  });

  test("is refused while the saga unwinds and after it has ended", async () => {
    const started = await unwindingAt("plug");
    expect(await abandon(started.id)).toMatchObject({ ok: false, fault: { kind: "conflict" } });
    await p.finish(started.id);
    expect(await abandon(started.id)).toMatchObject({
      ok: false,
      fault: { kind: "conflict", message: "the operation has already ended (unwound)" },
    });
  });
});

test("a late refusal of an earlier step does not unwind the saga", async () => {
  const started = await p.start();
  await p.reach(started.id, "plug");
  const late = { type: "step_refused", step: "light", reason: "long ago" };
  await p.main.engine.send({ kind: "saga", id: started.id }, late);
  expect(await p.row(started.id)).toMatchObject({ state: "running", step: "plug", error: null });
  expect((await p.finish(started.id)).state).toBe("succeeded");
});
