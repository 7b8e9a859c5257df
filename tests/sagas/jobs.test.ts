// Tests what can happen while a saga waits for a node's job (docs/instances.md, "Jobs"):
// - The job fails, or its time limit passes.
// - The node stops, or its report arrives late or twice.
// - An operator abandons the saga while the node works.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { JOB_LIMIT_MS, openProbe, type ProbePlane } from "./probe-saga.ts";

let p: ProbePlane;
beforeAll(async () => {
  p = await openProbe();
});
afterAll(() => p.end());
afterEach(() => p.open());

/** Starts a saga and runs it until it waits for its job. */
async function waiting() {
  const started = await p.start();
  await p.reach(started.id, "work");
  await p.main.tick(started.id);
  return { ...started, job: (await p.jobOf(started.id)).id };
}

const abandon = (id: string) => p.main.engine.send({ kind: "saga", id }, { type: "abandon" });
const jobRow = async (id: string) =>
  (await p.db.query("select state, tombstone, reason from job where id = $1", [id])).rows[0];
const completed = { type: "complete", result: { made: "by the node" } };
const complete = (id: string) => p.toJob(id, completed);
/**
 * Sends the report to a process that does not know the saga. So the report is stored, but not delivered to the saga.
 */
const store = (id: string) => p.toJob(id, completed, p.newProcess({ knows: false }));

test("a failed job unwinds the saga at that step, with the node's reason", async () => {
  const s = await waiting();
  await p.doJob(s.id, { type: "fail", reason: "no such image" });
  const { state, error, steps } = await p.finish(s.id);
  expect([state, error]).toEqual(["unwound", "no such image"]);
  expect(steps["work"]).toMatchObject({ status: "failed", error: "no such image" });
  expect(await p.left(s)).toEqual([]);
});

test("a job that is not claimed within its limit is cancelled without a tombstone", async () => {
  const s = await waiting();
  await p.advance(JOB_LIMIT_MS - 1_000);
  await p.main.pass();
  expect((await p.row(s.id)).state).toBe("running");
  await p.advance(1_000);
  await p.main.pass();
  expect(await jobRow(s.job)).toMatchObject({ state: "cancelled", tombstone: false });
  const { state, error, steps } = await p.finish(s.id);
  expect([state, error]).toEqual(["unwound", "step work got no report within its time limit"]);
  expect(steps["work"]?.["status"]).toBe("failed");
  expect(await p.left(s)).toEqual([]);
  expect(await p.claim(s.job)).toMatchObject({ ok: false, fault: { kind: "conflict" } });
});

describe("a claimed job whose time limit passes", () => {
  test("is cancelled with a tombstone, which stays until the node that claimed the job confirms the undo", async () => {
    const s = await waiting();
    await p.claim(s.job);
    await p.advance(JOB_LIMIT_MS);
    await p.main.pass();
    expect((await p.finish(s.id)).state).toBe("unwound");
    expect(await p.left(s)).toEqual([]);
    expect(await jobRow(s.job)).toMatchObject({ state: "cancelled", tombstone: true });
    expect(await p.toJob(s.job, { type: "bury", by: "another node" })).toMatchObject({ fault: { kind: "forbidden" } });
    expect((await p.toJob(s.job, { type: "bury" })).ok).toBe(true);
    expect(await jobRow(s.job)).toMatchObject({ state: "cancelled", tombstone: false });
  });

  test.each([{ type: "complete", result: { made: "too late" } }, { type: "fail", reason: "too late" }])(
    "refuses a late report ($type), which changes nothing",
    async (report) => {
      const s = await waiting();
      await p.claim(s.job);
      await p.advance(JOB_LIMIT_MS);
      await p.main.pass();
      await p.finish(s.id);
      const before = [await p.row(s.id), await jobRow(s.job)];
      expect(await p.toJob(s.job, report)).toMatchObject({
        ok: false,
        fault: { kind: "conflict", message: "job is cancelled already" },
      });
      await p.main.pass();
      expect([await p.row(s.id), await jobRow(s.job)]).toEqual(before);
      expect(await p.left(s)).toEqual([]);
    },
  );
});

test.each([
  [completed, { state: "running", step: "plug", job_id: null }],
  [{ type: "fail", reason: "no such image" }, { state: "unwinding", step: "light", job_id: null }],
])("the commit that ends a job ($type) also contains the next step of its saga", async (report, next) => {
  const s = await waiting();
  await p.claim(s.job);
  expect((await p.toJob(s.job, report)).ok).toBe(true);
  expect(await p.row(s.id)).toMatchObject(next);
  const { rows } = await p.db.query(
    `select j.xid = s.xid as is_one_commit, s.audit from transition j, transition s
      where j.actor_id = $1 and j.event = $2 and s.actor_id = $3 and s.event = 'job_ended'`,
    [s.job, report.type, s.id],
  );
  expect(rows).toEqual([{ is_one_commit: true, audit: null }]);
  expect((await p.db.query("select id from outbox")).rows).toEqual([]);
  await p.finish(s.id);
});

describe("a job's report that is stored but not yet delivered to the saga", () => {
  test("counts although the job's time limit has passed: the saga continues", async () => {
    const s = await waiting();
    await p.claim(s.job);
    await store(s.job);
    await p.advance(JOB_LIMIT_MS);
    await p.main.tick(s.id);
    expect(await p.row(s.id)).toMatchObject({ state: "running", step: "work" });
    await p.main.deliver();
    expect((await p.finish(s.id)).state).toBe("succeeded");
  });

  test("prevents abandoning the saga, because the node's work would not be undone", async () => {
    const s = await waiting();
    await p.claim(s.job);
    await store(s.job);
    expect(await abandon(s.id)).toMatchObject({ ok: false, fault: { message: "job is completed already" } });
    await p.main.deliver();
    expect((await abandon(s.id)).ok).toBe(true);
    expect((await p.finish(s.id)).state).toBe("unwound");
    expect(await p.left(s)).toEqual([]);
  });
});

test("a repeated report and the report of another job do not change the saga", async () => {
  const s = await waiting();
  await p.doJob(s.id);
  const after = await p.row(s.id);
  const report = { type: "job_ended", outcome: "failed", reason: "an echo" };
  for (const job_id of [s.job, "00000000-0000-8000-8000-000000000001"]) {
    await p.main.engine.send({ kind: "saga", id: s.id }, { ...report, job_id });
  }
  expect(await p.row(s.id)).toEqual(after);
  expect((await p.finish(s.id)).state).toBe("succeeded");
});

test("a report is accepted once, and only from the node that claimed the job", async () => {
  const s = await waiting();
  const foreign = { by: "88888888-0000-4000-8000-000000000002" };
  expect(await complete(s.job)).toMatchObject({ fault: { message: "job is not claimed" } });
  expect(await p.toJob(s.job, { type: "claim", lease_s: 60, ...foreign })).toMatchObject({
    fault: { kind: "forbidden" },
  });
  const claims = await Promise.all(Array.from({ length: 5 }, () => p.claim(s.job)));
  expect(claims.filter(({ ok }) => ok)).toHaveLength(1);
  expect(await p.toJob(s.job, { type: "complete", result: 1, ...foreign })).toMatchObject({
    fault: { kind: "forbidden" },
  });
  expect((await complete(s.job)).ok).toBe(true);
  expect(await complete(s.job)).toMatchObject({ fault: { message: "job is completed already" } });
  await p.main.deliver();
  expect((await p.finish(s.id)).state).toBe("succeeded");
});

test("if a node stops renewing its claim, the job fails at the end of the lease", async () => {
  const s = await waiting();
  await p.claim(s.job, 10);
  await p.advance(9_000);
  await p.main.pass();
  expect((await jobRow(s.job)).state).toBe("in_progress");
  await p.advance(1_000);
  await p.main.pass();
  expect((await jobRow(s.job)).state).toBe("failed");
  await p.main.deliver();
  expect((await p.finish(s.id)).error).toContain("stopped renewing");
  expect(await p.left(s)).toEqual([]);
});

describe("abandoning a saga while the node works", () => {
  test("cancels the job in the same commit and unwinds the saga", async () => {
    const s = await waiting();
    await p.claim(s.job);
    expect((await abandon(s.id)).ok).toBe(true);
    expect(await jobRow(s.job)).toMatchObject({
      state: "cancelled",
      tombstone: true,
      reason: "abandoned by an operator",
    });
    expect((await p.finish(s.id)).state).toBe("unwound");
    expect(await p.left(s)).toEqual([]);
  });
});

describe("an undo that is a job:", () => {
  async function undoing() {
    const started = await p.start();
    await p.close("finish:do");
    await p.reach(started.id, "work", "unwinding");
    await p.main.tick(started.id);
    return { ...started, job: (await p.jobOf(started.id)).id };
  }

  test.each([
    ["fails at its node", (s: { id: string }) => p.doJob(s.id, { type: "fail", reason: "cannot" }), "cannot"],
    [
      "is not reported within its limit",
      async () => {
        await p.advance(JOB_LIMIT_MS);
        await p.main.pass();
      },
      "the undo got no report within its time limit",
    ],
  ])("a job that %s is not repeated until an operator's retry sends another job", async (_how, fail, reason) => {
    const s = await undoing();
    await fail(s);
    expect(await p.row(s.id)).toMatchObject({ state: "stuck", stuck_reason: `undo of step work: ${reason}` });
    await p.main.pass();
    expect((await p.row(s.id)).state).toBe("stuck");
    expect((await abandon(s.id)).ok).toBe(true);
    await p.main.tick(s.id);
    expect((await p.jobOf(s.id)).id).not.toBe(s.job);
    expect((await p.finish(s.id)).state).toBe("unwound");
    expect(await p.left(s)).toEqual([]);
  });

  test("a report that was stored before the time limit, but delivered after the limit, completes the undo", async () => {
    const s = await undoing();
    await p.claim(s.job);
    await store(s.job);
    await p.advance(JOB_LIMIT_MS);
    await p.main.tick(s.id);
    expect((await p.row(s.id)).state).toBe("unwinding");
    await p.main.deliver();
    expect((await p.finish(s.id)).state).toBe("unwound");
    expect(await p.left(s)).toEqual([]);
  });
});

describe("a build that does not know the saga", () => {
  test("does not run the saga's steps, keeps the node's report for a build that knows the saga, and does not abandon the saga", async () => {
    const s = await waiting();
    const old = p.newProcess({ knows: false });
    await p.claim(s.job);
    expect((await p.toJob(s.job, completed, old)).ok).toBe(true);
    await old.pass();
    expect(await p.row(s.id)).toMatchObject({ state: "running", step: "work" });
    const abandoned = await old.engine.send({ kind: "saga", id: s.id }, { type: "abandon" });
    expect(abandoned).toMatchObject({ ok: false, fault: { kind: "conflict" } });
    await p.main.deliver();
    expect((await p.finish(s.id)).state).toBe("succeeded");
  });
});
