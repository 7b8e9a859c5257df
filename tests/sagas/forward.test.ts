// Tests the steps of a saga on PostgreSQL: each step takes effect once, no matter how often it runs and where the
// process dies (docs/reliability.md).
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { FAULT_POINTS } from "../../actors/engine/ports.ts";
import { openProbe, type ProbePlane, type Started, STEPS } from "./probe-saga.ts";

let p: ProbePlane;
beforeAll(async () => {
  p = await openProbe();
});
afterAll(() => p.end());
afterEach(() => p.open());

const UNITS = STEPS.filter((step) => step !== "work");

/** Expects that the saga succeeded, and that each of its effects is in the database exactly once. */
async function expectDone(started: Started): Promise<void> {
  const { id, first, second } = started;
  expect(await p.row(id)).toMatchObject({ state: "succeeded", step: null, error: null });
  const left = await p.left(started);
  const added = left.filter((row) => row.startsWith("+"));
  expect(added.filter((row) => row.startsWith("+ lamp:") && row.includes(first))).toEqual([
    expect.stringMatching(/"state":"on"/),
  ]);
  expect(added.filter((row) => row.startsWith("+ lamp:") && row.includes(second))).toEqual([
    expect.stringMatching(/"address":"\d+"/),
  ]);
  expect(added.filter((row) => row.startsWith("+ lamp_part:") && row.includes(second))).toHaveLength(1);
  const { rows: jobs } = await p.db.query("select kind, state, result from job where saga_id = $1", [id]);
  expect(jobs).toEqual([{ kind: "probe", state: "completed", result: { made: "by the node" } }]);
  const budget = (mark: string) =>
    Number(/"remaining":(\d+)/.exec(left.find((row) => row.startsWith(`${mark} budget:`)) ?? "")?.[1]);
  expect(budget("-") - budget("+")).toBe(1);
  expect(left.filter((row) => !/^[+-] (?:lamp|lamp_part|budget|pool_range):/.test(row))).toEqual([]);
}

test("a saga runs its steps in order, and each step gets the outputs of the earlier steps", async () => {
  const started = await p.start();
  await p.main.pass();
  await p.doJob(started.id);
  await p.main.pass();
  await expectDone(started);
  const { outputs, steps } = await p.row(started.id);
  expect(outputs).toMatchObject({
    reserve: { drawn: 1 },
    light: { lit: started.first },
    work: { made: "by the node" },
    plug: { socket: expect.stringMatching(/^\d+$/) },
    finish: "by the node",
  });
  expect(STEPS.map((step) => steps[step]?.["status"])).toEqual(STEPS.map(() => "succeeded"));
  const ends = STEPS.map((step) => steps[step]?.["ended_at"] ?? "");
  expect(ends).toEqual([...ends].sort());
});

describe.each(STEPS)("step %s", (step) => {
  test("takes effect once when two processes run it at once", async () => {
    const started = await p.start();
    await p.reach(started.id, step);
    const [one, two] = [p.newProcess(), p.newProcess()];
    await Promise.all([one.tick(started.id), two.tick(started.id), one.tick(started.id)]);
    await p.finish(started.id);
    await expectDone(started);
  });

  test("takes effect once when its tick is sent twice under one message id", async () => {
    const started = await p.start();
    await p.reach(started.id, step);
    const id = "0198f0e0-0000-7000-8000-" + started.id.slice(-12);
    const send = () => p.newProcess().engine.send({ kind: "saga", id: started.id }, { type: "tick" }, { id });
    expect(await send()).toEqual(await send());
    const position = await p.row(started.id);
    await send();
    expect(await p.row(started.id)).toEqual(position);
    await p.finish(started.id);
    await expectDone(started);
  });

  test.each(FAULT_POINTS)("continues in another process when the first process dies %s", async (dies) => {
    const started = await p.start();
    await p.reach(started.id, step);
    const dying = p.newProcess({ dies });
    await dying.tick(started.id).catch(() => {});
    expect(dying.faults()).toBe(1);
    const { step: stands_at, job_id } = await p.row(started.id);
    const isWritten = stands_at !== step || job_id !== null;
    expect(isWritten).toBe(dies === "after_commit" || dies === "after_reply");
    await p.finish(started.id, p.newProcess());
    await expectDone(started);
  });
});

test.each(UNITS)("a saga whose step %s is refused stops there and undoes the earlier steps", async (step) => {
  const started = await p.start();
  await p.close(`${step}:do`);
  const { state, error, steps } = await p.finish(started.id);
  expect(state).toBe("unwound");
  expect(error).toBe(`the gate ${step}:do is closed`);
  expect(steps[step]).toMatchObject({ status: "failed", error });
  const at = STEPS.indexOf(step);
  for (const [index, each] of STEPS.entries()) {
    if (index !== at) expect([each, steps[each]?.["status"]]).toEqual([each, index < at ? "undone" : "pending"]);
  }
  const undone = STEPS.slice(0, at).map((each) => steps[each]?.["ended_at"] ?? "");
  expect(undone).toEqual([...undone].sort().reverse());
  expect(await p.left(started)).toEqual([]);
});

test("a tick that arrives while the saga waits for a job changes nothing", async () => {
  const started = await p.start();
  await p.reach(started.id, "work");
  await p.main.tick(started.id);
  const waiting = await p.row(started.id);
  await p.advance(59_000);
  await p.main.tick(started.id);
  expect(await p.row(started.id)).toEqual(waiting);
  await p.finish(started.id);
  await expectDone(started);
});

test("a tick that is refused because the queue is full does not unwind the saga: the step is retried", async () => {
  const started = await p.start();
  const busy = p.newProcess({ refuses: 1 });
  await busy.pass();
  expect(await p.row(started.id)).toMatchObject({ state: "running", step: "reserve", error: null });
  await busy.pass();
  expect(await p.row(started.id)).toMatchObject({ state: "running", step: "work" });
  await p.finish(started.id);
  await expectDone(started);
});
