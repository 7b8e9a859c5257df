// Tests the poll of node agents: one long poll that replaces heartbeat, reports, claim and network poll (docs/nodes.md,
// "Reports of a node"). The poll must have the same effects as the separate calls.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type AgentPollBody, AgentPollView } from "../../src/contract/agent-poll.ts";
import {
  AGENT_POLL_S_MAX,
  AGENT_POLL_S_MIN,
  AGENT_POLLS_PER_S,
  CN_LIVE_S,
  JOB_LEASE_S,
} from "../../src/contract/limits.ts";
import { pollIntervalS } from "../../src/wiring/poll-interval.ts";
import { capacity as anyCapacity } from "../api/bodies.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { enqueue, type JobNode, nodeCalls, showJob, takeAway } from "./jobs.ts";

vi.setConfig({ testTimeout: 120_000 });

/** In this pause, a request reaches the server and begins to wait there. */
const HELD_MS = 300;
const WORK = { known_consoles: [] };

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

type Body = Partial<AgentPollBody>;
const ask = (body: Body = {}, signal?: AbortSignal, of = node) =>
  t.call("POST", "/v1/agent/poll", {
    key: of.api_key,
    body: { server_uuid: of.server_uuid, ...body },
    ...(signal && { signal }),
  });
const poll = async (body: Body = {}) => AgentPollView.parse(okOf(await ask(body)));
const work = (body: Body = {}) => poll({ work: WORK, running_jobs: [], ...body });
const shown = async () => okOf(await t.call("GET", `/v1/system/cns/${node.server_uuid}`));
const pause = (duration_ms: number) => new Promise((resolve) => setTimeout(resolve, duration_ms));
const silence = () =>
  t.db.query("update cn_signal set last_seen = berth_now() - interval '1 hour' where server_uuid = $1", [
    node.server_uuid,
  ]);

describe("a poll that arrives", () => {
  test("counts as a heartbeat before the server answers", async () => {
    await poll();
    await silence();
    const before = Date.parse((await shown()).last_seen);
    const held = poll({ wait: AGENT_POLL_S_MAX, work: WORK });
    await expect.poll(async () => Date.parse((await shown()).last_seen)).toBeGreaterThan(before);
    const id = await enqueue(t, node);
    expect((await held).work?.job?.id).toBe(id);
  });

  test("renews only the leases of its own node's jobs, even if it lists a job of another node", async () => {
    const other = await t.approvedNode();
    const mine = await enqueue(t, node);
    const foreign = await enqueue(t, other);
    await n.claim();
    await nodeCalls(t, other).claim();
    await t.db.query("update job_signal set renewed_at = berth_now() - interval '1 hour'");
    await t.db.query("update job set lease_until = berth_now() + interval '1 second' where id = any($1::uuid[])", [
      [mine, foreign],
    ]);
    await poll({ running_jobs: [mine, foreign] });
    const end = async (id: string) => Date.parse((await showJob(t, id)).lease_until!);
    expect(await end(mine)).toBeGreaterThan(await end(foreign) + JOB_LEASE_S * 900);
  });

  test("stores the capacity, and stores the status if no newer status is stored", async () => {
    const at = (s: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, s)).toISOString();
    await poll({
      status: { payload: { note: "new", timestamp: at(2) } },
      capacity: anyCapacity() as AgentPollBody["capacity"],
    });
    await poll({ status: { payload: { note: "old", timestamp: at(1) } } });
    expect((await shown()).last_status).toMatchObject({ note: "new" });
    expect(okOf(await t.call("GET", `/v1/system/cns/${node.server_uuid}/capacity`))).toMatchObject({
      report: { cpu_cores_physical: anyCapacity().cpu_cores_physical },
    });
  });

  test.each<[string, unknown, RegExp]>([
    ["wait", { wait: 31 }, /wait/],
    ["running_jobs", { running_jobs: ["x"] }, /running_jobs/],
    ["network", { network: { have: { x: 1 } } }, /have/],
    ["capacity", { capacity: {} }, /capacity/],
  ])(
    "with an invalid %s is refused with an error that names the field, and stores nothing",
    async (_name, body, name) => {
      await poll();
      await silence();
      const before = (await shown()).last_seen;
      const answer = await ask(body as Body);
      expect([answer.status, answer.body.message]).toEqual([400, expect.stringMatching(name)]);
      expect((await shown()).last_seen).toBe(before);
    },
  );

  test("is refused if server_uuid is not the UUID of the node whose key sends the request", async () => {
    const answer = await ask({ server_uuid: randomUUID() });
    expect([answer.status, answer.body.message]).toEqual([
      403,
      "server_uuid must be the UUID of the node whose key sends the request",
    ]);
  });
});

describe("work", () => {
  test("a waiting poll gets its answer when a job or a tombstone arrives", async () => {
    const asked = work({ wait: AGENT_POLL_S_MAX });
    await pause(HELD_MS);
    const id = await enqueue(t, node);
    expect((await asked).work?.job?.id).toBe(id);
    const next = work({ wait: AGENT_POLL_S_MAX, running_jobs: [id] });
    await pause(HELD_MS);
    await takeAway(t, id);
    expect((await next).work?.tombstones.map((job) => job.id)).toEqual([id]);
  });

  test("concurrent polls and claims of one node take every job exactly once", async () => {
    const ids = await Promise.all(Array.from({ length: 6 }, () => enqueue(t, node)));
    const taken: string[] = [];
    while (taken.length < ids.length) {
      const answers = await Promise.all(
        Array.from(
          { length: 12 },
          (_, at) => at % 2 === 0 ? n.claim() : poll({ work: WORK }).then(({ work }) => work!),
        ),
      );
      taken.push(...answers.flatMap(({ job }) => job === null ? [] : [job.id]));
    }
    expect(taken.toSorted()).toEqual(ids.toSorted());
  });

  test("if two polls of a node wait, as after a restart of the agent, only one poll gets a job", async () => {
    const both = Promise.all([poll({ wait: 3, work: WORK }), poll({ wait: 3, work: WORK })]);
    await pause(HELD_MS);
    const id = await enqueue(t, node);
    expect((await both).flatMap(({ work }) => work?.job?.id ?? [])).toEqual([id]);
  });

  test("a poll returns a claimed job again if the node does not list it, because the node may have lost the answer", async () => {
    const id = await enqueue(t, node);
    expect((await work()).work?.job?.id).toBe(id);
    expect((await work()).work?.job?.id).toBe(id);
    expect((await work({ running_jobs: [id] })).work?.job).toBeNull();
  });

  test("a node that disconnects while it waits gets no job", async () => {
    const gone = new AbortController();
    const asked = ask({ wait: AGENT_POLL_S_MAX, work: WORK }, gone.signal);
    await pause(HELD_MS);
    gone.abort();
    await asked.catch(() => {});
    const id = await enqueue(t, node);
    expect((await n.claim()).job?.id).toBe(id);
  });

  test("a poll without `work` claims nothing", async () => {
    const id = await enqueue(t, node);
    expect((await poll({ running_jobs: [] })).work).toBeNull();
    expect((await showJob(t, id)).status.status).toBe("pending");
  });

  test("the poll of a disabled node counts as a heartbeat and waits, but gets no job and no network document", async () => {
    const id = await enqueue(t, node);
    okOf(await t.call("POST", `/v1/cns/${node.server_uuid}/disable`));
    const sent_ms = performance.now();
    const answer = await work({ wait: 1, network: { have: {} } });
    expect(answer).toEqual({ interval_s: AGENT_POLL_S_MIN, work: null, network: null });
    expect(performance.now() - sent_ms).toBeGreaterThan(900);
    expect((await showJob(t, id)).status.status).toBe("pending");
    expect((await shown()).last_seen).not.toBeNull();
  });

  test("a poll whose key expires while the poll waits gets 401 and no job", async () => {
    const held = ask({ wait: AGENT_POLL_S_MAX, work: WORK });
    await pause(HELD_MS);
    await t.db.query("update api_key set expires_at = berth_now() where bound_to_cn = $1", [node.server_uuid]);
    const id = await enqueue(t, node);
    expect((await held).status).toBe(401);
    expect((await showJob(t, id)).status.status).toBe("pending");
  });
});

describe("network documents", () => {
  test("a poll that lists an unknown VPC gets an immediate answer that lists the VPC as gone", async () => {
    const vpc_id = randomUUID();
    const { network, work } = await poll({ wait: AGENT_POLL_S_MAX, network: { have: { [vpc_id]: 1 } } });
    expect([network?.gone, work]).toEqual([[vpc_id], null]);
  });
});

describe("the interval", () => {
  test("the server answers a poll after the advised interval, even if the poll asks for a longer wait", async () => {
    const sent_ms = performance.now();
    expect(await work({ wait: AGENT_POLL_S_MAX })).toEqual({
      interval_s: AGENT_POLL_S_MIN,
      work: { job: null, tombstones: [] },
      network: null,
    });
    const took_ms = performance.now() - sent_ms;
    expect(took_ms).toBeGreaterThan(AGENT_POLL_S_MIN * 1_000 - 100);
    expect(took_ms).toBeLessThan(AGENT_POLL_S_MAX * 1_000 / 2);
  });

  test.each([
    [0, JOB_LEASE_S, AGENT_POLL_S_MIN],
    [1_000, JOB_LEASE_S, AGENT_POLL_S_MIN],
    [2_000, JOB_LEASE_S, 10],
    [AGENT_POLL_S_MAX * AGENT_POLLS_PER_S, JOB_LEASE_S, AGENT_POLL_S_MAX],
    [100_000, JOB_LEASE_S, CN_LIVE_S / 3],
    [100_000, 30, 10],
  ])("the advised interval for %i nodes with leases of %i s is %i s", (nodes, lease_s, interval_s) => {
    expect(pollIntervalS({ nodes, lease_s })).toBe(interval_s);
  });
});
