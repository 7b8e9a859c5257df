// Tests the metrics of instances. Nodes report the metrics with their status, and tenants read the metrics
// (docs/instances.md, "Metrics").
import { afterAll, beforeAll, expect, test } from "vitest";
import type { InstanceMetrics } from "../../src/contract/instance-metrics.ts";
import { okOf } from "../support/control-plane.ts";
import { addNode, type ComputeFixture, openComputeFixture } from "./compute-fixture.ts";

const METRICS = {
  cpu_seconds: 1.5,
  memory_bytes: 2 ** 30,
  disk_read_bytes: 4_096,
  disk_written_bytes: 8_192,
  network_received_bytes: 100,
  network_sent_bytes: 2 ** 40,
};
let a: ComputeFixture;
beforeAll(async () => {
  a = await openComputeFixture();
});
afterAll(() => a.t.close());

const report = async (payload: object) => void okOf(await a.node.call("POST", "/v1/agent/status", { payload }));
const metricsOf = async (id: string, query = ""): Promise<InstanceMetrics> =>
  okOf(await a.call("GET", `/v1/instances/${id}/metrics${query}`));

test("a tenant can read a node's sample, and the node's status is stored without the sample", async () => {
  const { id } = await a.running();
  expect(await metricsOf(id)).toEqual({ instance_id: id, interval_s: 15, samples: [] });
  await report({ vms: { [id]: { state: "running" } }, metrics: { [id]: METRICS } });
  const { samples } = await metricsOf(id);
  expect(samples).toEqual([{ ...METRICS, at: expect.stringMatching(/^20.*Z$/) }]);
  const { rows } = await a.t.db.query("select last_status from cn_signal where server_uuid = $1", [a.node.server_uuid]);
  expect(rows).toEqual([{ last_status: { vms: { [id]: { state: "running" } } } }]);
  await a.destroy(id);
});

test("a sample that is repeated immediately is stored only once", async () => {
  const { id } = await a.running();
  await report({ metrics: { [id]: METRICS } });
  await report({ metrics: { [id]: METRICS } });
  expect((await metricsOf(id)).samples).toHaveLength(1);
  await a.destroy(id);
});

test.each([
  ["are not an object", "much"],
  ["are a list", [METRICS]],
  ["have an unknown key", { "not-an-id": METRICS }],
])("a report whose metrics %s is accepted, and stores no sample", async (_title, metrics) => {
  const stored = async () => (await a.t.db.query("select from instance_metrics")).rowCount;
  const before = await stored();
  await report({ metrics });
  expect(await stored()).toBe(before);
});

test.each([
  ["is negative", { cpu_seconds: -1 }],
  ["is missing", { memory_bytes: undefined }],
  ["is not a number", { disk_read_bytes: "1" }],
  ["is larger than any counter", { network_sent_bytes: 1e300 }],
])("an entry with a counter that %s is ignored, and the other entry is stored", async (_title, change) => {
  const [bad, good] = [await a.running(), await a.running()];
  await report({ metrics: { [bad.id]: { ...METRICS, ...change }, [good.id]: METRICS } });
  expect((await metricsOf(bad.id)).samples).toEqual([]);
  expect((await metricsOf(good.id)).samples).toHaveLength(1);
  for (const { id } of [bad, good]) await a.destroy(id);
});

test("a node cannot store samples of an instance on another node", async () => {
  const { id } = await a.running();
  const other = await addNode(a.t);
  okOf(await other.call("POST", "/v1/agent/status", { payload: { metrics: { [id]: METRICS } } }));
  expect((await metricsOf(id)).samples).toEqual([]);
  await a.destroy(id);
  okOf(await a.t.call("POST", `/v1/cns/${other.server_uuid}/disable`));
});

test("a report that names an instance in two spellings stores one sample, and a simultaneous report of another node is stored, too", async () => {
  const { id } = await a.running();
  const other = await addNode(a.t);
  const cordon = async (cordoned: boolean) =>
    void okOf(await a.t.call("PATCH", `/v1/cns/${a.node.server_uuid}/placement`, { body: { cordoned } }));
  await cordon(true);
  const elsewhere = await other.done(a.create(), "provision");
  await cordon(false);
  const spellings = { [id]: METRICS, [id.replace(/[a-f]/, (letter) => letter.toUpperCase())]: METRICS };
  expect(Object.keys(spellings)).toHaveLength(2);
  const reports = [[a.node, spellings], [other, { [elsewhere.id]: METRICS }]] as const;
  const answers = await Promise.all(
    reports.map(([node, metrics]) => node.call("POST", "/v1/agent/status", { payload: { metrics } })),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  for (const each of [id, elsewhere.id]) expect((await metricsOf(each)).samples).toHaveLength(1);
  await a.destroy(id);
  await other.done(a.call("POST", `/v1/instances/${elsewhere.id}/stop`), "stop");
  await other.done(a.call("DELETE", `/v1/instances/${elsewhere.id}`), "delete");
  okOf(await a.t.call("POST", `/v1/cns/${other.server_uuid}/disable`));
});

test("all instances are summarized, even if the processor time of one of them grew by the smallest possible number", async () => {
  const [tiny, usual] = [await a.running(), await a.running()];
  for (const cpu_seconds of [0, 5e-324]) {
    await report({ metrics: { [tiny.id]: { ...METRICS, cpu_seconds }, [usual.id]: METRICS } });
    await a.t.advance(15);
  }
  await a.t.advance(120);
  await a.t.db.query("select load_materialize(1)");
  for (const { id } of [tiny, usual]) {
    const { samples } = okOf(await a.call("GET", `/v1/instances/${id}/load?by=minute`));
    expect(samples.map(({ cpu }: { cpu: number | null }) => cpu)).toContain(0);
    await a.destroy(id);
  }
});

test("samples are ordered by time, the query can limit them, and they are deleted after an hour", async () => {
  const { id } = await a.running();
  for (const cpu_seconds of [1, 2, 3]) {
    await report({ metrics: { [id]: { ...METRICS, cpu_seconds } } });
    await a.t.advance(120);
  }
  const seconds = async (query: string) => (await metricsOf(id, query)).samples.map(({ cpu_seconds }) => cpu_seconds);
  expect(await seconds("?minutes=60")).toEqual([1, 2, 3]);
  expect(await seconds("")).toEqual([2, 3]);
  for (const minutes of ["0", "61", "x"]) {
    expect((await a.call("GET", `/v1/instances/${id}/metrics?minutes=${minutes}`)).status).toBe(400);
  }
  // This test must be the last test, because it leaves a node that is not live.
  await a.t.advance(3_600);
  await a.t.db.query("select load_materialize(1)");
  expect((await a.t.db.query("select from instance_metrics where instance_id = $1", [id])).rowCount).toBe(0);
});
