// Tests creates of instances on a node whose request waits for a job: the commit of the create also claims the job
// (docs/instances.md, "Jobs").
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Job } from "../../src/contract/job.ts";
import { okOf } from "../support/control-plane.ts";
import { type ComputeFixture, openComputeFixture } from "./compute-fixture.ts";

let a: ComputeFixture;
beforeAll(async () => {
  a = await openComputeFixture();
});
afterAll(() => a.t.close());

/** The number of creates after which a test gives up. A create that arrives before the node waits is not claimed. */
const TRIES_MAX = 20;

const poll = (wait: number, signal?: AbortSignal) =>
  a.t.call("POST", "/v1/agent/poll", {
    key: a.node.api_key,
    body: { server_uuid: a.node.server_uuid, wait, running_jobs: [], work: {} },
    ...(signal && { signal }),
  });
const claim = (wait: number, running_jobs?: readonly string[]) =>
  a.node.call("POST", "/v1/agent/claim", { claimed_by: a.node.server_uuid, wait, running_jobs });

async function eventsOf(job_id: string): Promise<string[][]> {
  const { rows } = await a.t.db.query<{ events: string[] }>(
    `select array_agg(t.actor_kind || ' ' || t.event order by t.id) as events
       from transition t, job j
      where j.id = $1 and t.actor_id = any(array[j.id::text, j.saga_id::text, j.payload->>'instance_id'])
      group by t.xid order by t.xid`,
    [job_id],
  );
  return rows.map(({ events }) => events);
}

/** Creates instances until the commit of a create has claimed its job. Returns the job and the answer to the create. */
async function claimedAtOnce(waits: () => Promise<Job>) {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const waiting = waits();
    await new Promise((wake) => setTimeout(wake, 100));
    const made = a.create();
    const job = await waiting;
    const [first] = await eventsOf(job.id);
    if (first?.includes("job assign")) return { job, made };
    await a.node.complete(job);
    okOf(await made);
  }
  throw new Error("no create claimed its job");
}

for (
  const [kind, waits] of [
    ["poll", async () => okOf(await poll(30)).work.job],
    ["claim", async () => okOf(await claim(30, [])).job],
  ] as const
) {
  test(`a create on a node whose ${kind} waits has two commits, and the node is the actor of the claim`, async () => {
    const { job, made } = await claimedAtOnce(waits);
    expect(job).toMatchObject({ status: { status: "in_progress" }, claimed_by: a.node.server_uuid });
    expect((await a.show(String(job.kind["instance_id"]))).lifecycle.state).toBe("provisioning");
    await a.node.complete(job);
    const { id } = okOf(await made);
    expect((await a.show(id)).lifecycle.state).toBe("running");
    expect(await eventsOf(job.id)).toEqual([
      ["instance create", "saga start", "job enqueue", "job assign", "instance job_claimed"],
      ["job complete", "saga job_ended", "instance settle"],
    ]);
    const audited = async () => {
      await a.t.plane.pass();
      const { events } = okOf(await a.t.call("GET", "/v1/audit/events?limit=1000"));
      return events.filter(({ resource }: { resource: string }) => resource === `Job::"${job.id}"`)
        .map(({ action, actor }: { action: string; actor: { kind: string } }) => `${action} ${actor.kind}`);
    };
    await expect.poll(audited, { timeout: 60_000 }).toEqual(["agent_claim api_key", "agent_complete api_key"]);
  });
}

test("a claimed job whose request died is in the answer to the node's next request", async () => {
  const gone = new AbortController();
  const lost = async (): Promise<Job> => {
    const { rows: before } = await a.t.db.query<{ id: string }>("select id from job");
    const asked = poll(30, gone.signal).catch(() => null);
    const known = before.map(({ id }) => id);
    for (;;) {
      const { rows } = await a.t.db.query<{ id: string }>("select id from job where not id = any($1)", [known]);
      if (rows[0] !== undefined) {
        gone.abort();
        await asked;
        return okOf(await claim(0, [])).job;
      }
      await new Promise((wake) => setTimeout(wake, 5));
    }
  };
  const { job, made } = await claimedAtOnce(lost);
  expect(okOf(await claim(0, [])).job.id).toBe(job.id);
  await a.node.complete(job);
  expect((await made).status).toBe(201);
});

test("a request that lists no jobs claims the job itself", async () => {
  const waiting = claim(30);
  await new Promise((wake) => setTimeout(wake, 300));
  const made = a.create();
  const { job } = okOf(await waiting);
  expect(await eventsOf(job.id)).toEqual([
    ["instance create", "saga start", "job enqueue"],
    ["job claim", "instance job_claimed"],
  ]);
  await a.node.complete(job);
  okOf(await made);
});

test("jobs that were claimed for one waiting request are in the answers to the node's next requests, in order", async () => {
  const waiting = poll(30);
  await new Promise((wake) => setTimeout(wake, 100));
  const made = [a.create(), a.create(), a.create()];
  const got: Job[] = [okOf(await waiting).work.job];
  while (got.length < made.length) {
    const ids = got.map(({ id }) => id);
    const { job } = okOf(await claim(20, ids));
    if (job !== null) got.push(job);
  }
  expect(got.map(({ seq }) => seq)).toEqual(got.map(({ seq }) => seq).toSorted((x, y) => x - y));
  expect(new Set(got.map(({ id }) => id)).size).toBe(made.length);
  for (const job of got) await a.node.complete(job);
  for (const answer of await Promise.all(made)) okOf(answer);
});
