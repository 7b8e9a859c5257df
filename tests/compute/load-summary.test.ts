// Placement uses summaries of the nodes' load. Passes of a background worker compute the summaries from the nodes'
// reports (docs/instances.md, "Placement").
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { placementSnapshot } from "../../src/services/placement-snapshot.ts";
import { createLoadMaterializer } from "../../src/workers/load-materializer.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { openNode, report } from "./placed.ts";

const INTERVAL_S = 60;
/** The interval is longer than any test, so only the tests start passes. */
const env = { BERTH_PLACEMENT_LOAD_MATERIALIZER_INTERVAL_SECS: "3600" };

let t: TestControlPlane;
let node: Awaited<ReturnType<typeof openNode>>;

beforeAll(async () => {
  t = await openTestControlPlane({ env });
});
afterAll(() => t.close());
beforeEach(async () => {
  await t.db.query("delete from load_pass");
  node = await openNode(t);
});

async function says(cpu: number, ram_available_mb: number): Promise<void> {
  const body = report({ cpu_utilization_pct: cpu, ram_total_mb: 1_000, ram_available_mb });
  okOf(await t.call("POST", "/v1/agent/capacity", { key: node.key, body }));
}

async function pass(): Promise<boolean> {
  const { rows } = await t.db.query<{ did: boolean }>("select load_materialize($1) as did", [INTERVAL_S]);
  return rows[0]!.did;
}

async function summary(): Promise<Record<string, number | null> | undefined> {
  const sql = "select summary from cn_load_summary where server_uuid = $1";
  return (await t.db.query<{ summary: Record<string, number | null> }>(sql, [node.id])).rows[0]?.summary;
}

/** Reports each load, a minute apart, and runs a pass after each report. */
async function reports(...loads: readonly (readonly [cpu: number, ram_available_mb: number])[]): Promise<void> {
  for (const [cpu, ram] of loads) {
    await t.advance(INTERVAL_S);
    await says(cpu, ram);
    expect(await pass()).toBe(true);
  }
}

const loadOf = async (load_stale_s: number) =>
  (await placementSnapshot(t.db.kysely, { load_stale_s })).nodes.find(({ server_uuid }) => server_uuid === node.id)!
    .load;

test("a node's reports become percentiles of the last five minutes, of a day and of a week", async () => {
  await reports([0.2, 900], [0.4, 800], [0.6, 700]);
  expect(await summary()).toMatchObject({
    cpu_p50_5m: 0.4,
    cpu_p95_5m: 0.58,
    cpu_max_5m: 0.6,
    ram_used_p95_5m: 0.29,
    samples_5m: 3,
  });
  // The summary of the day was computed only after the first sample. This sample is in the fifth of twenty ranges, and
  // the percentile is the middle of this range.
  expect(await summary()).toMatchObject({ cpu_p50_1d: 0.225, cpu_max_1d: 0.2, samples_1d: 1, samples_7d: 1 });
  await t.advance(600);
  await reports([0.8, 700]);
  expect(await summary()).toMatchObject({
    samples_5m: 1,
    cpu_p50_5m: 0.8,
    samples_1d: 4,
    cpu_max_1d: 0.8,
    // Two of four samples are below the end of the ninth of twenty ranges.
    cpu_p50_1d: 0.45,
    cpu_p50_7d: 0.45,
  });
  expect(await loadOf(3_600)).toEqual({ stale: false, cpu_p95_5m: 0.8, ram_used_p95_5m: 0.3, cpu_p50_1d: 0.45 });
});

test("a reported zero means unknown, and a report with only zeros adds no sample", async () => {
  await reports([0, 0]);
  expect(await summary()).toBeUndefined();
  expect(await loadOf(3_600)).toBeNull();
  await reports([0, 250]);
  expect(await summary()).toMatchObject({ cpu_p95_5m: null, ram_used_p95_5m: 0.75, samples_5m: 1, samples_1d: 0 });
});

test("a silent node keeps its summary, which becomes stale", async () => {
  await reports([0.5, 500]);
  expect(await loadOf(180)).toMatchObject({ stale: false });
  await t.advance(600);
  expect(await pass()).toBe(true);
  expect(await loadOf(180)).toMatchObject({ stale: true, cpu_p95_5m: 0.5 });
  const { rowCount } = await t.db.query("select from cn_load_sample where server_uuid = $1", [node.id]);
  expect(rowCount).toBe(0);
});

test("if several passes are concurrent or within half an interval, only one pass has an effect", async () => {
  await says(0.5, 500);
  expect((await Promise.all([pass(), pass()])).filter((did) => did)).toHaveLength(1);
  expect(await pass()).toBe(false);
  await t.advance(INTERVAL_S / 2);
  expect(await pass()).toBe(true);
  expect((await summary())!.samples_5m).toBe(1);
});

test("samples are kept for a week and deleted with their node", async () => {
  await reports([0.5, 500]);
  await t.advance(7 * 86_400 + 3_600);
  await reports([0.1, 500]);
  expect(await summary()).toMatchObject({ samples_7d: 1, cpu_max_7d: 0.1 });
  okOf(await t.call("POST", `/v1/cns/${node.id}/disable`));
  okOf(await t.call("DELETE", `/v1/cns/${node.id}`));
  for (const table of ["cn_load_sample", "cn_load_hour", "cn_load_summary"]) {
    expect((await t.db.query(`select from ${table} where server_uuid = $1`, [node.id])).rowCount).toBe(0);
  }
});

test("the background work of a control plane runs a pass if a pass is due", async () => {
  await says(0.5, 500);
  await t.plane.pass();
  expect(await summary()).toMatchObject({ cpu_p95_5m: 0.5 });
});

test("a stop of the worker takes effect at once, even before the worker knows its interval", async () => {
  let say = (_interval_s: number) => {};
  const interval = new Promise<number>((resolve) => say = resolve);
  const load = createLoadMaterializer({
    materialize: () => Promise.reject(new Error("no pass is due")),
    ports: { report: (message) => expect.unreachable(message) },
    interval_s: () => interval,
  });
  load.start();
  const stopped = load.stop();
  say(86_400);
  await stopped;
});
