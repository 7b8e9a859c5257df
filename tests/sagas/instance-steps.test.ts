// Tests the sagas of instances and their floating IPs, with every failure and every end of a process at each step. Each
// step must take effect once. In the end the operation has succeeded, has been undone completely, or is stuck and names
// the step (docs/reliability.md).
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FAULT_POINTS } from "../../actors/engine/ports.ts";
import { waitId } from "../../actors/engine/saga.ts";
import { UNDO_TRIES_MAX } from "../../actors/saga/transition.ts";
import { type Asked, type Begun, type Scenario, SCENARIOS } from "./instance-cases.ts";
import type { InstanceFixture } from "./bare-fixture.ts";
import { type InstanceSagas, makeFixture, openInstanceSagas } from "./instance-sagas.ts";
import { LIMIT_MS } from "./made-instances.ts";
import type { Process } from "./saga-process.ts";
import { SAGAS } from "./saga-gates.ts";

/** After this number of cases the tests use a new database, because large dumps are slow to compare. */
const CASES_PER_DATABASE = 20;

let fixture: InstanceFixture;
let p: InstanceSagas;
let cases = 0;
beforeAll(async () => {
  fixture = await makeFixture(CASES_PER_DATABASE);
  p = await openInstanceSagas(fixture);
}, 60_000);
afterAll(async () => {
  await p.end();
  await fixture.database.drop();
});
beforeEach(async () => {
  if (++cases % CASES_PER_DATABASE !== 0) return;
  await p.end();
  p = await openInstanceSagas(fixture);
});
afterEach(async () => {
  await p.open();
  expect(await p.contradictions()).toEqual([]);
});

async function begin({ ask }: Scenario): Promise<Begun> {
  const asked = await ask(p);
  expect(await send(asked)).toMatchObject({ ok: true });
  return asked;
}

const send = ({ to, message }: Asked, by: Process = p.main, id?: string) =>
  p.send(to, message, id === undefined ? {} : { id, fresh: false }, by);
const messageId = (begun: Begun) => `0198f0e0-0000-7000-8000-${begun.saga_id.slice(-12)}`;
const gate = ({ saga }: Scenario, step: string, way: "do" | "undo") => `${saga}:${step}:${way}`;

async function expectSucceeded(scenario: Scenario, begun: Begun): Promise<void> {
  const { state, steps } = await p.row(begun.saga_id);
  expect([state, Object.values(steps).map(({ status }) => status)]).toEqual([
    "succeeded",
    [...scenario.first, ...scenario.later].map(() => "succeeded"),
  ]);
  await scenario.expectDone(p, begun);
  await expectEachJobOnce(scenario, begun);
}

/** Expects that the operation sent each of its jobs once. */
async function expectEachJobOnce({ jobs, unawaited = 0 }: Scenario, { saga_id }: Begun): Promise<void> {
  const { rows } = await p.db.query("select kind from job where saga_id = $1", [saga_id]);
  expect(rows).toHaveLength(jobs.length + unawaited);
}

test("the scenarios cover every step and every undo of all sagas of instances, disks, images and floating IPs", () => {
  const defined = SAGAS.flatMap(({ name, steps }) =>
    steps.flatMap((step) => [`${name}:${step.name}`, ...(step.undo === null ? [] : [`${name}:${step.name}:undo`])])
  );
  const covered = SCENARIOS.flatMap(({ saga, first, later, undone }) => [
    ...[...first, ...later].map((step) => `${saga}:${step}`),
    ...undone.map((step) => `${saga}:${step}:undo`),
  ]);
  expect([...new Set(covered)].sort()).toEqual(defined.sort());
});

describe.each(SCENARIOS)("the message that starts the operation $name", (scenario) => {
  test("starts one operation when two processes send it at once under one message id", async () => {
    const asked = await scenario.ask(p);
    const id = messageId(asked);
    const answers = await Promise.all([1, 2].map(() => send(asked, p.newProcess(), id)));
    expect(answers[0]).toMatchObject({ ok: true });
    expect(answers[1]).toEqual(answers[0]);
    await p.finish(asked.saga_id);
    await expectSucceeded(scenario, asked);
  });

  test.each(FAULT_POINTS)("takes effect once when it is repeated after the process died %s", async (dies) => {
    const asked = await scenario.ask(p);
    const id = messageId(asked);
    const dying = p.newProcess({ dies });
    await send(asked, dying, id).catch(() => {});
    expect(dying.faults()).toBe(1);
    expect(await send(asked, p.newProcess(), id)).toMatchObject({ ok: true });
    await p.finish(asked.saga_id);
    await expectSucceeded(scenario, asked);
  });

  test.each(["before", "after"] as const)("takes effect once when the connection is cut %s the commit", async (cut) => {
    const asked = await scenario.ask(p);
    const cutting = p.newProcess({ cut });
    expect(await send(asked, cutting, messageId(asked))).toMatchObject({ ok: true });
    expect(cutting.faults()).toBe(1);
    await p.finish(asked.saga_id);
    await expectSucceeded(scenario, asked);
  });
});

const STEPS = SCENARIOS.flatMap((scenario) => scenario.later.map((step) => ({ scenario, step, of: scenario.name })));

describe.each(STEPS)("step $step of $of", ({ scenario, step }) => {
  test("takes effect once when two processes run it at once", async () => {
    const begun = await begin(scenario);
    await p.reach(begun.saga_id, step);
    const [one, two] = [p.newProcess(), p.newProcess()];
    await Promise.all([one.tick(begun.saga_id), two.tick(begun.saga_id), one.tick(begun.saga_id)]);
    await p.finish(begun.saga_id);
    await expectSucceeded(scenario, begun);
  });

  test.each(FAULT_POINTS)("continues in another process when the first process dies %s", async (dies) => {
    const begun = await begin(scenario);
    await p.reach(begun.saga_id, step);
    const dying = p.newProcess({ dies });
    await dying.tick(begun.saga_id).catch(() => {});
    expect(dying.faults()).toBe(1);
    await p.finish(begun.saga_id, p.newProcess());
    await expectSucceeded(scenario, begun);
  });

  test.each(["before", "after"] as const)("takes effect once when the connection is cut %s the commit", async (cut) => {
    const begun = await begin(scenario);
    await p.reach(begun.saga_id, step);
    const cutting = p.newProcess({ cut });
    await cutting.tick(begun.saga_id);
    expect(cutting.faults()).toBe(1);
    await p.finish(begun.saga_id);
    await expectSucceeded(scenario, begun);
  });

  test("is not repeated by a process that was paused while another process ran it", async () => {
    const begun = await begin(scenario);
    await p.reach(begun.saga_id, step);
    const late = p.newProcess({ pauses: true });
    const tick = late.tick(begun.saga_id);
    await late.paused;
    await p.main.tick(begun.saga_id);
    late.resume();
    // The paused process's commit is refused; the process then runs the step that is due.
    await tick;
    expect(late.faults()).toBe(1);
    await p.finish(begun.saga_id);
    await expectSucceeded(scenario, begun);
  });

  test("stops the operation when the step is refused, and the earlier steps are undone", async () => {
    const begun = await begin(scenario);
    await p.close(gate(scenario, step, "do"));
    const { state, error, steps } = await p.finish(begun.saga_id);
    expect([state, error]).toEqual(["unwound", `the gate ${gate(scenario, step, "do")} is closed`]);
    expect(steps[step]?.status).toBe("failed");
    for (const undone of scenario.undone.filter((each) => steps[each]?.status !== "pending" && each !== step)) {
      expect([undone, steps[undone]?.status]).toEqual([undone, "undone"]);
    }
  });
});

const JOBS = SCENARIOS.flatMap((scenario) => scenario.jobs.map((step) => ({ scenario, step, of: scenario.name })));

/** The jobs before this step whose effect stays. */
const keptBefore = ({ jobs, kept = [] }: Scenario, step: string) =>
  jobs.slice(0, jobs.indexOf(step)).filter((each) => kept.includes(each));

describe.each(JOBS)("the job $step of $of", ({ scenario, step }) => {
  async function atJob() {
    const begun = await begin(scenario);
    await p.reach(begun.saga_id, step);
    await p.main.tick(begun.saga_id);
    const job = await p.jobOf(await p.row(begun.saga_id));
    return { ...begun, job: job! };
  }

  test("ends the operation with the node's reason when the node reports a failure", async () => {
    const begun = await atJob();
    await p.claim(begun.job.id);
    await p.endJob(begun.job.id, { type: "fail", reason: "out of luck" });
    expect(await p.finish(begun.saga_id)).toMatchObject({ state: "unwound", error: "out of luck" });
    await scenario.expectFailed(p, begun, "out of luck", step);
  });

  test("is cancelled without effect when no node claims it in time", async () => {
    const begun = await atJob();
    await p.advance(LIMIT_MS);
    await p.main.tick(begun.saga_id);
    const ended = await p.finish(begun.saga_id);
    expect(ended).toMatchObject({ state: "unwound" });
    const { rows } = await p.db.query("select state, tombstone from job where id = $1", [begun.job.id]);
    expect(rows).toEqual([{ state: "cancelled", tombstone: false }]);
    if (keptBefore(scenario, step).length > 0) await scenario.expectFailed(p, begun, String(ended.error), step);
    else if (scenario.saga !== "disk-resize") expect(await p.left(begun.before)).toEqual([]);
  });

  test("leaves a tombstone when it was claimed but not reported in time", async () => {
    const begun = await atJob();
    await p.claim(begun.job.id);
    await p.advance(LIMIT_MS);
    await p.main.tick(begun.saga_id);
    const { rows } = await p.db.query("select state, tombstone from job where id = $1", [begun.job.id]);
    expect(rows).toEqual([{ state: "cancelled", tombstone: true }]);
    if (scenario.saga === "instance-create") {
      await p.main.tick(begun.saga_id);
      await p.main.deliver();
      expect(await p.row(begun.saga_id)).toMatchObject({ state: "unwinding", step: "designate" });
      expect((await p.instanceOf(begun.to.id)).state).toBe("failed");
      await p.toJob(begun.job.id, { type: "bury" });
      await p.main.deliver();
    }
    const { error } = await p.finish(begun.saga_id);
    await scenario.expectFailed(p, begun, String(error), step);
    if (scenario.saga !== "instance-create") await p.toJob(begun.job.id, { type: "bury" });
  });

  test("ends the operation when its lease expires, and is never repeated", async () => {
    const begun = await atJob();
    await p.toJob(begun.job.id, { type: "claim", lease_s: 1 });
    await p.advance(1_000);
    await p.main.engine.send({ kind: "job", id: begun.job.id }, { type: "tick" });
    await p.main.deliver();
    if (scenario.saga === "instance-create") {
      await p.main.tick(begun.saga_id);
      await p.main.deliver();
      expect(await p.row(begun.saga_id)).toMatchObject({ state: "unwinding", step: "designate" });
      await p.toJob(begun.job.id, { type: "bury" });
      await p.main.deliver();
    }
    const { error } = await p.finish(begun.saga_id);
    expect(error).toMatch(/stopped renewing the job$/);
    await scenario.expectFailed(p, begun, String(error), step);
    const sent = scenario.jobs.slice(0, scenario.jobs.indexOf(step) + 1).map((each) => waitId(begun.saga_id, each));
    const ofNodes = "select id = any($2) as forward, state from job where saga_id = $1 order by seq";
    const { rows } = await p.db.query(ofNodes, [begun.saga_id, sent]);
    const states = rows.filter(({ forward }) => forward).map(({ state }) => state);
    expect(states).toEqual([...sent.slice(1).map(() => "completed"), "failed"]);
    // The undo sends one job for each completed job whose effect does not stay, for example to attach a detached
    // floating IP again.
    const undoes = sent.length - 1 - keptBefore(scenario, step).length;
    expect(rows.filter(({ forward }) => !forward)).toHaveLength(undoes);
    if (scenario.saga !== "instance-create") await p.toJob(begun.job.id, { type: "bury" });
  });
});

const UNDOS = SCENARIOS.flatMap((scenario) => scenario.undone.map((step) => ({ scenario, step, of: scenario.name })));

describe.each(UNDOS)("the undo of $step of $of", ({ scenario, step }) => {
  const steps = [...scenario.first, ...scenario.later];

  /** Starts an operation and refuses a later step, so that its next action is to undo this step. */
  async function unwinding(): Promise<Begun> {
    const begun = await begin(scenario);
    const refused = steps[steps.indexOf(scenario.undone.at(-1)!) + 1]!;
    await p.close(gate(scenario, refused, "do"));
    await p.reach(begun.saga_id, step, "unwinding");
    await p.open();
    return begun;
  }

  /** Expects that the operation was undone, and that the database is as before the operation. */
  async function expectUndone(begun: Begun): Promise<void> {
    expect((await p.row(begun.saga_id)).state).toBe("unwound");
    expect(await p.left(begun.before)).toEqual([]);
  }

  test("takes effect once when two processes run it at once", async () => {
    const begun = await unwinding();
    const [one, two] = [p.newProcess(), p.newProcess()];
    await Promise.all([one.tick(begun.saga_id), two.tick(begun.saga_id), one.tick(begun.saga_id)]);
    await p.finish(begun.saga_id);
    await expectUndone(begun);
  });

  test.each(FAULT_POINTS)("continues in another process when the first process dies %s", async (dies) => {
    const begun = await unwinding();
    const dying = p.newProcess({ dies });
    await dying.tick(begun.saga_id).catch(() => {});
    expect(dying.faults()).toBe(1);
    await p.finish(begun.saga_id, p.newProcess());
    await expectUndone(begun);
  });

  test.each(["before", "after"] as const)("takes effect once when the connection is cut %s the commit", async (cut) => {
    const begun = await unwinding();
    const cutting = p.newProcess({ cut });
    await cutting.tick(begun.saga_id);
    expect(cutting.faults()).toBe(1);
    await p.finish(begun.saga_id);
    await expectUndone(begun);
  });

  test("leaves the database as before the operation when it fails at first and then succeeds", async () => {
    const begun = await unwinding();
    await p.close(gate(scenario, step, "undo"));
    await p.main.tick(begun.saga_id);
    expect((await p.row(begun.saga_id)).steps[step]?.status).toBe("undo_failed");
    await p.open();
    await p.advance(60_000);
    await p.finish(begun.saga_id);
    await expectUndone(begun);
  });

  test("that keeps failing leaves the operation stuck with the step's name, until an operator retries the operation", async () => {
    const begun = await unwinding();
    await p.close(gate(scenario, step, "undo"));
    for (let tries = 1; tries <= UNDO_TRIES_MAX; tries++) {
      expect((await p.row(begun.saga_id)).state).toBe("unwinding");
      await p.main.tick(begun.saga_id);
      await p.advance(60_000);
    }
    const { state, stuck_reason } = await p.row(begun.saga_id);
    expect([state, stuck_reason]).toEqual([
      "stuck",
      `undo of step ${step}: the gate ${gate(scenario, step, "undo")} is closed`,
    ]);
    await p.open();
    await p.main.engine.send({ kind: "saga", id: begun.saga_id }, { type: "abandon" });
    await p.finish(begun.saga_id);
    await expectUndone(begun);
  });
});

test("a failed delete job during the undo of a create leaves the saga stuck; a retry sends another job", async () => {
  const create = SCENARIOS.find(({ name }) => name === "create")!;
  const begun = await begin(create);
  await p.close(gate(create, "finish", "do"));
  await p.reach(begun.saga_id, "provision", "unwinding");
  await p.main.tick(begun.saga_id);
  const job = await p.jobOf(await p.row(begun.saga_id));
  await p.claim(job!.id);
  await p.endJob(job!.id, { type: "fail", reason: "the disk is busy" });
  expect(await p.row(begun.saga_id)).toMatchObject({
    state: "stuck",
    stuck_reason: "undo of step provision: the disk is busy",
  });
  await p.main.engine.send({ kind: "saga", id: begun.saga_id }, { type: "abandon" });
  await p.finish(begun.saga_id);
  expect(await p.left(begun.before)).toEqual([]);
});
