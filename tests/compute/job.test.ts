// Tests the job protocol between the control plane and node agents (docs/instances.md, "Jobs").
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { JOB_LEASE_S, TOMBSTONES_PER_CLAIM } from "../../src/contract/limits.ts";
import { maintainNow } from "../support/maintenance.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { enqueue, type JobNode, nodeCalls, showJob, takeAway } from "./jobs.ts";

// The time limit of a test is longer than the limits of its calls of `expect.poll`. So if such a call fails, the test
// reports the call's error instead of its own timeout.
vi.setConfig({ testTimeout: 120_000 });

let t: TestControlPlane;
let node: JobNode;
let n: ReturnType<typeof nodeCalls>;

beforeAll(async () => {
  t = await openTestControlPlane();
});
afterAll(() => t.close());
beforeEach(async () => {
  node = await t.approvedNode();
  n = nodeCalls(t, node);
});

const otherNode = async () => nodeCalls(t, await t.approvedNode());

/** Returns a claimed job of the node. */
async function claimed(): Promise<string> {
  const id = await enqueue(t, node);
  expect((await n.claim()).job?.id).toBe(id);
  return id;
}

describe("claiming", () => {
  test("each job is claimed once, in the order of seq, and only by its node", async () => {
    const other = await otherNode();
    const ids = [await enqueue(t, node), await enqueue(t, node), await enqueue(t, node)];
    expect((await other.claim()).job).toBeNull();
    const taken = [await n.claim(), await n.claim(), await n.claim()].map(({ job }) => job?.id);
    expect(taken).toEqual(ids);
    expect((await n.claim()).job).toBeNull();
  });

  test("concurrent claims take every job exactly once", async () => {
    const ids = await Promise.all(Array.from({ length: 6 }, () => enqueue(t, node)));
    const taken = new Set<string>();
    while (taken.size < ids.length) {
      const answers = await Promise.all(Array.from({ length: 12 }, () => n.claim()));
      const found = answers.flatMap(({ job }) => job === null ? [] : [job.id]);
      expect(found.filter((id) => taken.has(id))).toEqual([]);
      found.forEach((id) => taken.add(id));
    }
    expect([...taken].sort()).toEqual([...ids].sort());
  });

  test("a claimed job shows its holder, its lease and its object", async () => {
    const floating_ip_id = randomUUID();
    const id = await enqueue(t, node, { payload: { floating_ip_id } });
    const { job } = await n.claim();
    expect(job).toMatchObject({
      id,
      kind: { kind: "fip_release", floating_ip_id },
      status: { status: "in_progress" },
      claimed_by: node.server_uuid,
      target_cn_uuid: node.server_uuid,
      completed_at: null,
      tombstone: false,
      progress: null,
    });
    expect(Date.parse(job!.lease_until!) - Date.parse(job!.claimed_at!)).toBe(JOB_LEASE_S * 1_000);
  });

  test("claimed_by must be the UUID of the node whose key sends the request", async () => {
    const answer = await n.ask({ claimed_by: randomUUID() });
    expect([answer.status, answer.body.message]).toEqual([
      403,
      "claimed_by must be the UUID of the node whose key sends the request",
    ]);
  });

  test("S-12: a disabled node cannot claim a job, but can end a job that it claimed before", async () => {
    const id = await claimed();
    const next = await enqueue(t, node);
    okOf(await t.call("POST", `/v1/cns/${node.server_uuid}/disable`));
    const answer = await n.ask();
    expect([answer.status, answer.body.message]).toEqual([403, "only an approved node can take jobs"]);
    expect((await showJob(t, next)).status.status).toBe("pending");
    expect((await n.complete(id)).status).toBe(200);
  });

  test("a long poll is answered when a job arrives", async () => {
    const asked = n.claim({ wait: 30 });
    const id = await enqueue(t, node);
    expect((await asked).job?.id).toBe(id);
  });

  test("a long poll is answered when a tombstone arrives", async () => {
    const id = await claimed();
    const asked = n.claim({ wait: 30 });
    await takeAway(t, id);
    expect((await asked).tombstones.map((job) => job.id)).toEqual([id]);
  });

  test("a long poll ends without a job at its time limit", async () => {
    expect(await n.claim({ wait: 1 })).toEqual({ job: null, tombstones: [] });
  });

  test("a node that disconnects during its long poll gets no job", async () => {
    const gone = new AbortController();
    const body = { claimed_by: node.server_uuid, wait: 30 };
    const asked = t.call("POST", "/v1/agent/claim", { key: node.api_key, body, signal: gone.signal });
    gone.abort();
    await asked.catch(() => {});
    const id = await enqueue(t, node);
    expect((await n.claim()).job?.id).toBe(id);
  });

  test("a claim gets a claimed job again if its running_jobs lacks the job, because the response may have been lost", async () => {
    const id = await claimed();
    const next = await enqueue(t, node);
    const again = await n.claim({ running_jobs: [] });
    expect(again.job).toMatchObject({ id, status: { status: "in_progress" } });
    expect((await n.claim({ running_jobs: [id] })).job?.id).toBe(next);
  });

  test("a claim without running_jobs never gets a claimed job again", async () => {
    await claimed();
    expect((await n.claim()).job).toBeNull();
  });
});

describe("ending", () => {
  test("a completed job keeps its result; ending it again gets 409", async () => {
    const id = await claimed();
    expect(okOf(await n.complete(id, { size_bytes: 7 }))).toMatchObject({
      status: { status: "completed" },
      result: { size_bytes: 7 },
      lease_until: null,
    });
    const second = await n.fail(id, "late");
    expect([second.status, second.body.message]).toEqual([409, "job is completed already"]);
    expect((await n.complete(id)).status).toBe(409);
  });

  test("a failed job keeps the node's reason and has no tombstone, because the node has undone its part of the job", async () => {
    const id = await claimed();
    expect(okOf(await n.fail(id, "image: no such file"))).toMatchObject({
      status: { status: "failed", reason: "image: no such file" },
      tombstone: false,
    });
    expect((await n.claim()).tombstones).toEqual([]);
  });

  test("a failure with a reason of more than 2,048 characters gets 400", async () => {
    const id = await claimed();
    expect((await n.fail(id, "x".repeat(2_049))).status).toBe(400);
    expect((await n.fail(id, "x".repeat(2_048))).status).toBe(200);
  });

  test("S-13: another node cannot read, report on, end or bury a job", async () => {
    const id = await claimed();
    const other = await otherNode();
    const answers = await Promise.all([
      other.blueprint(id),
      other.progress(id, { step: "x" }),
      other.complete(id),
      other.fail(id, "x"),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    await takeAway(t, id);
    expect((await other.bury(id)).status).toBe(403);
    expect((await showJob(t, id)).tombstone).toBe(true);
  });

  test("S-13: for a job in any state another node gets the same answer and changes nothing", async () => {
    const other = await otherNode();
    const ended = async (end: (id: string) => Promise<unknown>) => {
      const id = await claimed();
      await end(id);
      return id;
    };
    const jobs = {
      completed: await ended((id) => n.complete(id, { result: "secret" })),
      failed: await ended((id) => n.fail(id, "secret")),
      cancelled: await ended((id) => takeAway(t, id)),
      buried: await ended(async (id) => {
        await takeAway(t, id);
        await n.bury(id);
      }),
      // Enqueues this job last, because the node claims the oldest pending job.
      pending: await enqueue(t, node),
    };
    for (const [state, id] of Object.entries(jobs)) {
      const before = await showJob(t, id);
      const asks = [other.blueprint(id), other.progress(id, { step: "x" }), other.complete(id), other.fail(id, "x")];
      for (const { status, body } of [...await Promise.all(asks), await other.bury(id)]) {
        const { request_id: _request_id, ...said } = body;
        expect([state, status, said]).toEqual([
          state,
          403,
          { message: "the job belongs to another node", error_code: "Forbidden" },
        ]);
      }
      expect(await showJob(t, id)).toEqual(before);
    }
    await n.complete((await n.claim()).job!.id);
  });

  test("an unclaimed job cannot be read or ended", async () => {
    const id = await enqueue(t, node);
    const answers = [await n.blueprint(id), await n.progress(id, { step: "x" }), await n.complete(id)];
    expect(answers.map(({ status, body }) => [status, body.message])).toEqual(
      Array(3).fill([409, "job is not claimed"]),
    );
  });

  test("requests about an unknown job get 404", async () => {
    const id = randomUUID();
    const answers = [
      await n.blueprint(id),
      await n.progress(id, { step: "x" }),
      await n.complete(id),
      await n.bury(id),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  });
});

describe("leases", () => {
  /** Advances the clock by this number of seconds, and runs the background worker until the job satisfies `seen`. */
  async function pass(seconds: number, id: string, seen: (job: Awaited<ReturnType<typeof showJob>>) => boolean) {
    await t.advance(seconds);
    await expect.poll(async () => {
      await t.plane.pass();
      return seen(await showJob(t, id));
    }, { timeout: 60_000 }).toBe(true);
  }
  const failed = ({ status }: Awaited<ReturnType<typeof showJob>>) => status.status === "failed";

  test("a job without heartbeats fails with a tombstone when its lease ends, and never runs again", async () => {
    const id = await claimed();
    await n.beat();
    await n.beat([]);
    await pass(JOB_LEASE_S, id, failed);
    expect(await showJob(t, id)).toMatchObject({
      status: { status: "failed", reason: `node ${node.server_uuid} stopped renewing the job` },
      tombstone: true,
    });
    const { job, tombstones } = await n.claim({ running_jobs: [] });
    expect([job, tombstones.map((each) => each.id)]).toEqual([null, [id]]);
    expect((await n.complete(id)).status).toBe(409);
  });

  test("a heartbeat renews only the leases of the jobs that it lists", async () => {
    const [kept, lost] = [await claimed(), await claimed()];
    await t.advance(JOB_LEASE_S - 10);
    await n.beat([kept, kept, randomUUID()]);
    await pass(10, lost, failed);
    await t.plane.pass();
    const job = await showJob(t, kept);
    expect(job.status.status).toBe("in_progress");
    expect(Date.parse(job.lease_until!) - Date.parse(job.claimed_at!)).toBeGreaterThan(JOB_LEASE_S * 1_000);
    await pass(JOB_LEASE_S, kept, failed);
  });

  test("the heartbeat of another node renews no lease", async () => {
    const id = await claimed();
    await t.advance(JOB_LEASE_S - 10);
    await (await otherNode()).beat([id]);
    await pass(10, id, failed);
  });
});

describe("tombstones", () => {
  test("every answer to a claim contains a tombstone until the node buries it; burying it again changes nothing", async () => {
    const id = await claimed();
    await takeAway(t, id);
    const next = await enqueue(t, node);
    const first = await n.claim();
    expect([first.job?.id, first.tombstones.map((job) => job.id)]).toEqual([next, [id]]);
    expect(first.tombstones[0]).toMatchObject({
      status: { status: "cancelled", reason: "not wanted" },
      tombstone: true,
    });
    expect((await n.claim()).tombstones).toHaveLength(1);
    expect(okOf(await n.bury(id)).tombstone).toBe(false);
    expect((await n.bury(id)).status).toBe(200);
    expect((await n.claim()).tombstones).toEqual([]);
  });

  test("a running job cannot be buried", async () => {
    const id = await claimed();
    expect((await n.bury(id)).status).toBe(409);
  });

  test("a claim gets no job while there are more tombstones than one answer can contain", async () => {
    await t.db.query(
      `insert into job (id, incarnation, version, state, kind, target_cn, payload, saga_id, created_at, claimed_by,
         reason, tombstone, completed_at)
       select gen_random_uuid(), gen_random_uuid(), 1, 'cancelled', 'fip_release', $1::uuid, '{}', gen_random_uuid(),
         berth_now(), $1::text, 'not wanted', true, berth_now() from generate_series(1, $2)`,
      [node.server_uuid, TOMBSTONES_PER_CLAIM + 1],
    );
    const next = await enqueue(t, node);
    const { job, tombstones } = await n.claim();
    expect([job, tombstones.length]).toEqual([null, TOMBSTONES_PER_CLAIM]);
    okOf(await n.bury(tombstones[0]!.id));
    expect((await n.claim()).job?.id).toBe(next);
  });
});

describe("for operators", () => {
  test("a job shows its newest progress", async () => {
    const id = await claimed();
    expect((await n.progress(id, { step: "image", percent: 10 })).body).toBeNull();
    await n.progress(id, { step: "boot" });
    expect((await showJob(t, id)).progress).toMatchObject({ step: "boot", percent: null });
    await n.complete(id);
    expect((await n.progress(id, { step: "late" })).status).toBe(409);
  });

  test("jobs are listed newest first, by node, instance and status, in pages", async () => {
    const instance_id = randomUUID();
    const ids = [
      await enqueue(t, node),
      await enqueue(t, node, { kind: "stop", payload: { instance_id } }),
      await enqueue(t, node),
    ];
    const list = async (query: string) => okOf(await t.call("GET", `/v1/system/jobs?${query}`));
    const found = async (query: string) => (await list(query)).items.map(({ id }: { id: string }) => id);
    expect(await found(`cn=${node.server_uuid}`)).toEqual([...ids].reverse());
    expect(await found(`instance=${instance_id}`)).toEqual([ids[1]]);
    await n.claim();
    expect(await found(`cn=${node.server_uuid}&status=in_progress`)).toEqual([ids[0]]);
    const page = await list(`cn=${node.server_uuid}&limit=2`);
    expect(page.items.map(({ id }: { id: string }) => id)).toEqual([ids[2], ids[1]]);
    expect(await found(`cn=${node.server_uuid}&limit=2&page_token=${page.next_page}`)).toEqual([ids[0]]);
  });

  test("ended jobs are kept as long as operations, but jobs with a tombstone are kept longer", async () => {
    const [old, undone, fresh] = [await claimed(), await claimed(), await claimed()];
    await n.complete(old);
    await takeAway(t, undone);
    await n.complete(fresh);
    const ago = "update job set completed_at = completed_at - interval '2 hours' where id = any($1)";
    await t.db.query(ago, [[old, undone]]);
    await maintainNow(t.db, 3_600);
    const left = await Promise.all([old, undone, fresh].map((id) => t.call("GET", `/v1/system/jobs/${id}`)));
    expect(left.map(({ status }) => status)).toEqual([404, 200, 200]);
  });

  test("the audit names the node as the actor of its actions on jobs, and the system as the actor of an expired lease", async () => {
    const [done, lost] = [await claimed(), await claimed()];
    await n.fail(done, "image: no such file");
    await t.advance(JOB_LEASE_S);
    const audited = async () => {
      await t.plane.pass();
      const { events } = okOf(await t.call("GET", "/v1/audit/events?limit=1000"));
      const of = (id: string) =>
        events.filter(({ resource }: { resource: string }) => resource === `Job::"${id}"`)
          .map(({ action, actor }: { action: string; actor: { kind: string } }) => `${action} ${actor.kind}`);
      return [of(done), of(lost)];
    };
    await expect.poll(audited, { timeout: 60_000 }).toEqual([
      ["agent_claim api_key", "agent_complete api_key"],
      ["agent_claim api_key", "job_expire system"],
    ]);
  });

  test("an unknown status or a page token of another list gets 400", async () => {
    const statuses = ["status=lost", "page_token=e30"].map((query) => t.call("GET", `/v1/system/jobs?${query}`));
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([400, 400]);
  });
});

test("the blueprint of a job shows that the job's instance no longer exists", async () => {
  const id = await enqueue(t, node, { kind: "delete", payload: { instance_id: randomUUID() } });
  await n.claim();
  expect(okOf(await n.blueprint(id))).toMatchObject({ job_id: id, kind: { kind: "delete" }, instance: null, nics: [] });
});
