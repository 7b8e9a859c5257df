// Creates a tenant with a network and an image, and nodes that can run instances. A test acts as the agents of the
// nodes.
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { Instance } from "../../src/contract/instance.ts";
import type { Job } from "../../src/contract/job.ts";
import { capacity } from "../api/bodies.ts";
import {
  type Answer,
  type CallOptions,
  okOf,
  openTestControlPlane,
  type TestControlPlane,
} from "../support/control-plane.ts";
import { changedRows, type Dump, dumpTables } from "../support/dump.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";

export const GIB = 2 ** 30;

/** `alive` sets a node's last heartbeat to this number of seconds in the future. */
export const SEEN_AHEAD_S = 3_600;

export type Node = {
  readonly server_uuid: string;
  readonly api_key: string;
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Reports capacity, sends a heartbeat, and moves the time of the heartbeat SEEN_AHEAD_S seconds into the future. */
  alive(fields?: Record<string, unknown>): Promise<void>;
  /** Claims the next job. Waits until a job is queued. */
  take(): Promise<Job>;
  /** Claims the next job without waiting. `job` is null if no job is queued. */
  ask(): Promise<{ readonly job: Job | null; readonly tombstones: readonly Job[] }>;
  complete(job: Job, result?: unknown): Promise<void>;
  fail(job: Job, reason: string): Promise<void>;
  bury(job: Job): Promise<void>;
  /** Claims the next job, which must be of this kind, and completes it. */
  does(kind: string): Promise<Job>;
  /** Completes the node's next jobs, which must be of these kinds. Returns the body of the answer to `asked`. */
  // deno-lint-ignore no-explicit-any -- the body of an Answer is any
  done(asked: Promise<Answer>, ...kinds: readonly string[]): Promise<any>;
};

export type ComputeFixture = Awaited<ReturnType<typeof openComputeFixture>>;

/** Adds an approved node. `fields` are fields of its capacity report, `registered` fields of its registration. */
export async function addNode(
  t: Pick<TestControlPlane, "call" | "db" | "approvedNode">,
  fields: Record<string, unknown> = {},
  registered: Record<string, unknown> = {},
): Promise<Node> {
  const { server_uuid, api_key } = await t.approvedNode(registered);
  const call = (method: string, path: string, body?: unknown) => t.call(method, path, { key: api_key, body });
  const end = async (job: Job, outcome: unknown, result?: unknown) =>
    void okOf(await call("POST", `/v1/agent/jobs/${job.id}/complete`, { outcome, result }));
  const ask = async (wait = 0) => okOf(await call("POST", "/v1/agent/claim", { claimed_by: server_uuid, wait }));
  const node: Node = {
    server_uuid,
    api_key,
    call,
    alive: async (more) => {
      okOf(await call("POST", "/v1/agent/capacity", { ...capacity(), ...fields, ...more }));
      okOf(await call("POST", "/v1/agent/heartbeat"));
      // The heartbeat is in the future, so that the node stays live during a slow test.
      const ahead = "update cn_signal set last_seen = berth_now() + make_interval(secs => $2) where server_uuid = $1";
      await t.db.query(ahead, [server_uuid, SEEN_AHEAD_S]);
    },
    take: async () => {
      for (;;) {
        const { job } = await ask(20);
        if (job !== null) return job;
      }
    },
    ask,
    complete: (job, result) => end(job, { kind: "completed" }, result),
    fail: (job, reason) => end(job, { kind: "failed", reason }),
    bury: async (job) => void okOf(await call("POST", `/v1/agent/jobs/${job.id}/bury`)),
    does: async (kind) => {
      const job = await node.take();
      expect(job.kind.kind).toBe(kind);
      await node.complete(job);
      return job;
    },
    done: async (asked, ...kinds) => {
      // Rejects as soon as the request is refused, because a refused request creates no job.
      const refused = asked.then((answer) => {
        okOf(answer);
        return null;
      });
      for (const kind of kinds) {
        const taken = await Promise.race([node.take(), refused]);
        if (taken === null) throw new Error(`the request was answered without a job of the kind ${kind}`);
        expect(taken.kind.kind).toBe(kind);
        await node.complete(taken);
      }
      return okOf(await asked);
    },
  };
  await node.alive();
  return node;
}

/** Opens a fixture. Creates a control plane, tenant or node if `given` has none. */
export async function openComputeFixture(given: { t?: TestControlPlane; tenant?: TestTenant; node?: Node } = {}) {
  const t = given.t ?? await openTestControlPlane();
  const tenant = given.tenant ?? await openTenant(t);
  const { call, selectors } = tenant;
  const make = async (path: string, body: unknown, options: CallOptions = {}) =>
    okOf(await t.call("POST", path, { key: tenant.key, body, ...options }));
  const blocks = { ipv4_block: "10.0.0.0/16", ipv6_block: "fd00:10::/48" };
  const vpc = await make(`/v1/vpcs${selectors}`, { name: randomUUID(), ...blocks });
  const subnet = await make(`/v1/subnets?vpc=${vpc.id}`, {
    name: "front",
    ipv4_block: "10.0.1.0/24",
    ipv6_block: "fd00:10:0:1::/64",
  });
  const newImage = (fields: object = {}) =>
    make("/v1/images", {
      name: randomUUID(),
      os: "linux",
      version: "1",
      size_bytes: 2 * GIB,
      sha256: randomUUID().replaceAll("-", "").repeat(2),
      source_url: "https://images.example/linux",
      compatibility: { brand: "kvm", arch: "x86_64" },
      ...fields,
    }, { key: undefined });
  const image = await newImage();
  const node = given.node ?? await addNode(t);

  const bodyOf = (fields: object = {}) => ({
    name: randomUUID(),
    image_id: image.id,
    primary_subnet_id: subnet.id,
    cpu: 2,
    memory_bytes: 4 * GIB,
    ...fields,
  });
  const create = (fields: object = {}, options: CallOptions = {}) =>
    call("POST", `/v1/instances${selectors}`, { body: bodyOf(fields), ...options });
  /** Creates a running instance. */
  async function running(fields: object = {}): Promise<Instance> {
    return await done(create(fields), "provision");
  }
  async function stopped(fields: object = {}): Promise<Instance> {
    const { id } = await running(fields);
    return await act(id, "stop", "stop");
  }
  /** Sends a request and does the job that the node gets for it. */
  async function act(id: string, verb: string, job: string): Promise<Instance> {
    return await done(call("POST", `/v1/instances/${id}/${verb}`), job);
  }
  async function destroy(id: string): Promise<void> {
    const { lifecycle } = await show(id);
    if (lifecycle.state === "running") await act(id, "stop", "stop");
    await done(call("DELETE", `/v1/instances/${id}`), "delete");
  }
  const done = node.done;
  const show = async (id: string): Promise<Instance> => okOf(await call("GET", `/v1/instances/${id}`));
  const operations = async (id: string) =>
    okOf(await t.call("GET", `/v1/operations?resource_scope=instance&resource_id=${id}`));
  const operation = async (id: string, kind: string) => {
    const found = (await operations(id)).find((each: { kind: string }) => each.kind === kind);
    if (found === undefined) throw new Error(`no operation ${kind} of ${id}`);
    return okOf(await t.call("GET", `/v1/operations/${found.id}`));
  };
  /** Waits until the operation is neither running nor unwinding. */
  const ended = async (id: string, kind: string) => {
    for (;;) {
      const { id: operation_id } = await operation(id, kind);
      const found = okOf(await t.call("GET", `/v1/operations/${operation_id}?wait=20`));
      if (!["running", "unwinding"].includes(found.state)) return found;
    }
  };
  const nicsOf = async (id: string) => okOf(await call("GET", `/v1/nics?instance=${id}`)).items;
  const disksOf = async (id: string) => okOf(await call("GET", `/v1/disks?instance=${id}`)).items;

  return {
    t,
    tenant,
    call,
    selectors,
    vpc,
    subnet,
    image,
    node,
    make,
    newImage,
    bodyOf,
    create,
    running,
    stopped,
    act,
    done,
    destroy,
    show,
    operations,
    operation,
    ended,
    nicsOf,
    disksOf,
    dump: () => dumpTables(t.db),
    /** Returns the rows that were added or removed since `before`. The list is empty if everything was released. */
    left: async (before: Dump) => settled(changedRows(before, await dumpTables(t.db), RECORDS)),
  };
}

/**
 * The tables that `left` ignores, such as logs, operations, jobs, reports of nodes, usage and rate limits. Their rows
 * need not be released.
 */
const RECORDS = [
  "saga",
  "job",
  "job_signal",
  "transition",
  "seen",
  "outbox",
  "audit_event",
  "audit_head",
  "denial_window",
  "api_key_use",
  "cn_signal",
  "cn_capacity",
  "cn_load_sample",
  "instance_metrics",
  "instance_load",
  "instance_load_done",
  "usage_span",
  "usage_counter",
  "usage_traffic",
  "usage_day",
  "usage_closed",
  "cn_load_fleet",
  "cn_load_hour",
  "cn_load_summary",
  "load_pass",
  "idempotency",
  "lab_clock",
  "rate_bucket",
  "vpc_change",
  "vpc_generation",
  "stored_upload",
];

/** Removes new usage counters that are zero, because a missing row has the same meaning. */
function settled(changes: readonly string[]): string[] {
  return changes.filter((each) =>
    !/^\+ cn_usage: .*"cpu_units":0,"ram_mb":0,"disk_bytes":0,"instances":0\}$/.test(each)
  );
}
