// Tests the commands of `opsctl job`.
import { expect, test } from "vitest";
import type { Job } from "../../src/contract/job.ts";
import type { Server } from "./fake-environment.ts";
import { opsctl } from "./opsctl.ts";

const ID = "99999999-0000-4000-8000-00000000000a";
const NODE = "3f2a9c1e-0000-4000-8000-00000000c0de";

function job(change: Partial<Job> = {}): Job {
  return {
    id: ID,
    kind: { kind: "provision", instance_id: "i1" },
    status: { status: "in_progress" },
    seq: 7,
    created_at: "2026-11-21T10:00:00Z",
    claimed_at: "2026-11-21T10:00:01Z",
    completed_at: null,
    claimed_by: NODE,
    result: null,
    target_cn_uuid: NODE,
    operation_id: "o1",
    lease_until: "2026-11-21T10:10:01Z",
    tombstone: false,
    progress: { step: "image", percent: 40, updated_at: "2026-11-21T10:00:05Z" },
    ...change,
  };
}

test("`job show` prints the job's object, progress and operation", async () => {
  const ran = await opsctl(["job", "show", ID], { server: () => ({ body: job() }) });
  expect(ran.asked[0]).toMatchObject({ method: "GET", path: `/v1/system/jobs/${ID}` });
  expect(ran.out()).toMatchSnapshot();
});

test("`job list` shows why a job failed, and that the node must still undo the job", async () => {
  const failed = job({ status: { status: "failed", reason: "the node went away" }, tombstone: true });
  const ran = await opsctl(["job", "list"], {
    server: () => ({ body: { items: [failed] } }),
    wall_ms: Date.parse(failed.created_at) + 3_600_000,
  });
  expect(ran.out()).toMatchSnapshot();
});

test("`job list` sends its filters and resolves the names of the node and the instance", async () => {
  const server: Server = ({ path }) => {
    if (path === "/v1/system/cns") return { body: { items: [{ server_uuid: NODE, hostname: "rack1" }] } };
    const instances = [{ id: "i1", name: "web1", addresses: [] }];
    return { body: { items: path === "/v1/system/instances" ? instances : [] } };
  };
  const argv = ["job", "list", "--node", "rack1", "--instance", "web1", "--status", "failed"];
  const ran = await opsctl(argv, { server });
  expect(ran.asked.at(-1)?.query).toEqual({ cn: NODE, instance: "i1", status: "failed", limit: "50" });
  expect(ran.out()).toBe("(no jobs)\n");
});

test("`job list` reads pages up to --limit and notes that older jobs exist", async () => {
  const server: Server = ({ query }) => ({
    body: { items: Array.from({ length: Number(query["limit"]) }, () => job()), next_page: "more" },
  });
  const ran = await opsctl(["job", "list", "--limit", "1200"], { server });
  expect(ran.asked.map(({ query }) => query["limit"])).toEqual(["1000", "200"]);
  expect(ran.out().trimEnd().split("\n")).toHaveLength(1_201);
  expect(ran.err()).toContain("Older jobs exist");
});
