// Tests the drain of a whole rack of simulated machines, each with its own agent in this process. BERTH_RACK_NODES and
// BERTH_RACK_INSTANCES set the size; 100 nodes with 1,000 instances take many minutes. The test prints the
// times that it measures.
import { randomBytes, randomUUID } from "node:crypto";
import process from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { LabelDrainResult, LabelDrainStarted } from "../../src/contract/label-drain.ts";
import { type ImageServer, serveImage } from "../compute/image-server.ts";
import { type InstanceFixture, makeInstance, openInstanceFixture } from "../compute/instance-fixture.ts";
import { type RunningAgent, simulatedMachine } from "../compute/node-agent.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { needs } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

const NODES = Number(process.env.BERTH_RACK_NODES ?? 6);
const INSTANCES = Number(process.env.BERTH_RACK_INSTANCES ?? 24);
/**
 * The number of nodes outside the rack. All instances of the rack move to these nodes. One such node for five nodes of
 * the rack suffices, because a simulated machine has memory for 100 small instances.
 */
const OUTSIDE = Math.max(2, Math.ceil(NODES / 5));
/** The maximum number of nodes that are drained at once. */
const AT_ONCE = Math.max(2, Math.ceil(NODES / 10));
/** The maximum number of creates that run at once. */
const CREATES_AT_ONCE = 16;
const LIMIT_MS = 60 * 60_000;
/**
 * Heartbeats have their production period. The status is checked half as often as in production, and a failed request
 * is repeated after a tenth of the production pause.
 */
const PACE = ["--heartbeat-ms", "5000", "--status-check-ms", "1000", "--error-retry-ms", "500"];

let t: TestControlPlane;
let folder: TemporaryFolder;
let images: ImageServer;
let g: InstanceFixture;
const rack: string[] = [];
const outside: string[] = [];
const agents: RunningAgent[] = [];

beforeAll(async () => {
  folder = await temporaryFolder("rack-drain");
  t = await openTestControlPlane();
  images = await serveImage(randomBytes(3_000));
  g = await openInstanceFixture(t, { ...images, size_bytes: images.bytes.length });
  for (let count = 0; count < NODES + OUTSIDE; count++) {
    const node = await t.approvedNode({ hostname: `n${count}` });
    const [list, name] = count < NODES ? [rack, "a3"] as const : [outside, "a4"] as const;
    list.push(node.server_uuid);
    const body = { labels: { rack: name }, cordoned: name === "a4" };
    okOf(await t.call("PATCH", `/v1/cns/${node.server_uuid}/placement`, { body }));
    agents.push((await simulatedMachine(t, node, folder.path, PACE)).start());
  }
}, LIMIT_MS);
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.stop()));
  await images.close();
  await t.close();
  await folder.remove();
}, LIMIT_MS);

async function timed<T>(work: () => Promise<T>): Promise<readonly [T, number]> {
  const from = performance.now();
  const result = await work();
  return [result, Math.round(performance.now() - from)];
}

/** Creates the instances on the nodes of the rack, while the nodes outside are cordoned. */
async function createAll(): Promise<string[]> {
  const vpc = okOf(
    await g.call("POST", `/v1/vpcs${g.selectors}`, { body: { name: "wide", ipv4_block: "10.0.0.0/8" } }),
  );
  const body = { name: "wide", ipv4_block: "10.8.0.0/16" };
  const subnet = okOf(await g.call("POST", `/v1/subnets?vpc=${vpc.id}`, { body }));
  const ids: string[] = [];
  let left = INSTANCES;
  await Promise.all(Array.from({ length: CREATES_AT_ONCE }, async () => {
    while (left-- > 0) {
      const change = { name: randomUUID(), primary_subnet_id: subnet.id, memory_bytes: 256 * 2 ** 20 };
      ids.push(okOf(await makeInstance(g, change)).id);
    }
  }));
  return ids;
}

const count = async (sql: string, values: unknown[] = []) => Number((await t.db.query(sql, values)).rows[0]!.count);

test(
  `a rack of ${NODES} nodes with ${INSTANCES} instances is emptied, and each instance moves once`,
  async (context) => {
    needs(context, "openssl");
    const known = async () =>
      (await t.db.query("select from cn_capacity c join cn_signal s using (server_uuid) where last_seen is not null"))
        .rows.length;
    await expect.poll(known, { timeout: LIMIT_MS }).toBe(NODES + OUTSIDE);
    const [ids, creates_ms] = await timed(createAll);
    expect(await count("select count(*) from instance where host_cn_uuid = any($1) and state = 'running'", [rack]))
      .toBe(INSTANCES);
    for (const node of outside) {
      okOf(await t.call("PATCH", `/v1/cns/${node}/placement`, { body: { cordoned: false } }));
    }
    const body = { label: "rack=a3", max_unavailable: AT_ONCE };
    const call = (more: object): Promise<LabelDrainStarted> =>
      t.call("POST", "/v1/cn-drains", { body: { ...body, ...more } }).then(okOf);
    const [plan, plan_ms] = await timed(() => call({ dry_run: true }));
    expect(plan.nodes.flatMap(({ preview }) => preview.not_placeable)).toEqual([]);

    const [result, drain_ms] = await timed(async () => {
      const { operation_id } = await call({});
      const operation = async () => okOf(await t.call("GET", `/v1/operations/${operation_id}`));
      await expect.poll(async () => (await operation()).state, { timeout: LIMIT_MS, interval: 1_000 }).toBe(
        "succeeded",
      );
      return (await operation()).steps.at(-1).output as LabelDrainResult;
    });
    expect(result.not_emptied).toEqual([]);
    expect(result.drained.reduce((sum, { moved }) => sum + moved, 0)).toBe(INSTANCES);
    expect(await count("select count(*) from instance where host_cn_uuid = any($1) and state = 'running'", [outside]))
      .toBe(INSTANCES);
    const { rows: moved } = await t.db.query(
      "select m.instance_id, count(*)::int as moves from migration m where m.instance_id = any($1) group by 1",
      [ids],
    );
    expect(moved.filter(({ moves }) => moves !== 1)).toEqual([]);
    expect(moved).toHaveLength(INSTANCES);
    const { rows: [most] } = await t.db.query(
      "select percentile_cont(0.5) within group (order by s) as p50, max(s) as max from " +
        "(select extract(epoch from ended_at - created_at) as s from migration) as m",
    );
    const { rows: jobs } = await t.db.query(
      "select kind, avg(extract(epoch from claimed_at - created_at)) as waits, " +
        "avg(extract(epoch from completed_at - claimed_at)) as works from job " +
        "where kind like 'migrate_%' and completed_at is not null group by kind order by kind",
    );
    const s = (ms: number) => (ms / 1_000).toFixed(1);
    console.log(
      `${NODES} nodes, ${INSTANCES} instances, ${OUTSIDE} targets, ${AT_ONCE} nodes at once: ` +
        `creates ${s(creates_ms)} s; plan ${plan_ms} ms; drain ${s(drain_ms)} s ` +
        `(${(INSTANCES / drain_ms * 1_000).toFixed(1)} migrations/s); one migration p50 ` +
        `${Number(most!.p50).toFixed(1)} s, max ${Number(most!.max).toFixed(1)} s; jobs (wait + work): ` +
        jobs.map(({ kind, waits, works }) => `${kind} ${Number(waits).toFixed(2)} + ${Number(works).toFixed(2)} s`)
          .join(", "),
    );
  },
  LIMIT_MS,
);
