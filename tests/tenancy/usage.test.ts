// Tests the usage of projects by day (docs/tenancy.md, "Usage by day"). The usage of random lifecycles must equal the
// integral of the used sizes over time. Also tests traffic.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ProjectUsage, SiteUsage } from "../../src/contract/usage.ts";
import { closeUsage } from "../../src/db/usage.ts";
import { addNode, type ComputeFixture, GIB, openComputeFixture } from "../compute/compute-fixture.ts";
import { okOf } from "../support/control-plane.ts";
import { openTenant } from "./tenant.ts";

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
/** The steps of a lifecycle take real time, at most 3 minutes on a slow machine. This time counts as usage, too. */
const TOLERANCE_HOURS = 0.05;

let a: ComputeFixture;
beforeAll(async () => {
  a = await openComputeFixture();
});
afterAll(() => a.t.close());

const today = async (): Promise<string> => {
  const text = "select to_char(berth_now() at time zone 'UTC', 'YYYY-MM-DD') as day";
  return (await a.t.db.query<{ day: string }>(text)).rows[0]!.day;
};
const dayAfter = (day: string, days: number) =>
  new Date(Date.parse(day) + days * DAY_S * 1_000).toISOString().slice(0, 10);
const usageOf = async (of: { tenant_id: string; project_id: string }, query: string): Promise<ProjectUsage> =>
  okOf(await a.t.call("GET", `/v1/tenants/${of.tenant_id}/projects/${of.project_id}/usage/days${query}`));
const close = () => closeUsage(a.t.db);
/** Advances the clock to the beginning of the next day. */
async function nextDay(): Promise<void> {
  const text =
    "select extract(epoch from date_trunc('day', berth_now(), 'UTC') + interval '1 day' - berth_now())::float8 as s";
  await a.t.advance(Math.ceil((await a.t.db.query<{ s: number }>(text)).rows[0]!.s));
  await a.node.alive();
}
const advance = async (seconds: number) => {
  await a.t.advance(seconds);
  await a.node.alive();
};

/** Returns a function that draws numbers from 0 to 1 from a seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

test.each([1, 2])(
  "over several days, the usage of random lifecycles equals the integral of the used sizes (seed %i)",
  async (seed) => {
    const random = randomFrom(seed);
    const pick = (count: number) => Math.floor(random() * count);
    await nextDay();
    const from = await today();
    const before = (await usageOf(a.tenant, `?from=${from}`)).total;
    type Held = { id: string; cpu: number; memory_bytes: number; disk_bytes: number; on: boolean };
    const held: Held[] = [];
    const addresses: string[] = [];
    const due = { vcpu: 0, memory: 0, disk: 0, ip: 0 };
    for (let step = 0; step < 14; step += 1) {
      const one = held[pick(held.length)];
      const verb = one === undefined ? 0 : pick(6);
      if (verb <= 1) {
        const [cpu, memory_bytes] = [1 + pick(4), (1 + pick(8)) * GIB];
        const made = await a.running({ cpu, memory_bytes });
        const [disk] = await a.disksOf(made.id);
        held.push({ id: made.id, cpu, memory_bytes, disk_bytes: disk.size_bytes, on: true });
      } else if (verb === 2) {
        await a.act(one!.id, one!.on ? "stop" : "start", one!.on ? "stop" : "start");
        one!.on = !one!.on;
      } else if (verb === 3 && !one!.on) {
        one!.cpu = 1 + pick(8);
        okOf(await a.call("PATCH", `/v1/instances/${one!.id}`, { body: { cpu: one!.cpu } }));
      } else if (verb === 4) {
        await a.destroy(one!.id);
        held.splice(held.indexOf(one!), 1);
      } else if (addresses.length > 0 && random() < 0.5) {
        okOf(await a.call("DELETE", `/v1/floating-ips/${addresses.pop()}`));
      } else {
        addresses.push((await a.make(`/v1/floating-ips${a.selectors}`, { name: randomUUID(), family: "v4" })).id);
      }
      const hours = 1 + pick(12);
      await advance(hours * HOUR_S);
      const running = held.filter(({ on }) => on);
      due.vcpu += hours * running.reduce((sum, { cpu }) => sum + cpu, 0);
      due.memory += hours * running.reduce((sum, { memory_bytes }) => sum + memory_bytes / GIB, 0);
      due.disk += hours * held.reduce((sum, { disk_bytes }) => sum + disk_bytes / GIB, 0);
      due.ip += hours * addresses.length;
      if (random() < 0.3) await close();
    }
    const used = await usageOf(a.tenant, `?from=${from}`);
    const is = (value: number, hours: number, units: number) =>
      expect(Math.abs(value - hours)).toBeLessThan(TOLERANCE_HOURS * Math.max(1, units));
    is(used.total.vcpu_hours - before.vcpu_hours, due.vcpu, 40);
    is(used.total.memory_gib_hours - before.memory_gib_hours, due.memory, 80);
    is(used.total.disk_gib_hours - before.disk_gib_hours, due.disk, 100);
    is(used.total.floating_ip_hours - before.floating_ip_hours, due.ip, 10);
    // The total is the sum of the days.
    const sum = used.days.reduce((total, { vcpu_hours }) => total + vcpu_hours, 0);
    expect(Math.abs(sum - used.total.vcpu_hours)).toBeLessThan(1e-4);
    expect(used.days.some(({ closed }) => closed)).toBe(true);
    for (const { id } of held) await a.destroy(id);
    for (const id of addresses) okOf(await a.call("DELETE", `/v1/floating-ips/${id}`));
    const open = await a.t.db.query("select from usage_span where ended_at is null");
    expect(open.rowCount).toBe(0);
  },
  240_000,
);

describe("traffic", () => {
  const COUNTERS = { memory_bytes: GIB, disk_read_bytes: 0, disk_written_bytes: 0 };
  let clock_ms = 0;
  /** Sends a report of the node; by default each report is a second later than the previous report. */
  const report = async (
    id: string,
    of: readonly [cpu: number, received: number, sent: number],
    at_ms = clock_ms += 1_000,
  ) => {
    const [cpu_seconds, network_received_bytes, network_sent_bytes] = of;
    const metrics = { [id]: { ...COUNTERS, cpu_seconds, network_received_bytes, network_sent_bytes } };
    const timestamp = new Date(at_ms).toISOString();
    okOf(await a.node.call("POST", "/v1/agent/status", { payload: { timestamp, metrics } }));
  };
  const total = async () => {
    const { total } = await usageOf(a.tenant, `?from=${dayAfter(await today(), -30)}`);
    return [total.network_in_bytes, total.network_out_bytes];
  };

  test("repeated and late reports count nothing, and a machine that starts again counts from zero", async () => {
    clock_ms = Date.now();
    const { id } = await a.running();
    const [was_in = 0, was_out = 0] = await total();
    const counted = async () => (await total()).map((value, index) => value - (index === 0 ? was_in : was_out));
    await report(id, [1, 100, 10]);
    expect(await counted()).toEqual([100, 10]);
    await report(id, [1, 100, 10]);
    await report(id, [2, 300, 50]);
    expect(await counted()).toEqual([300, 50]);
    // A late report of the same node, and the same report again.
    await report(id, [1, 100, 10], clock_ms - 1_500);
    await report(id, [2, 300, 50], clock_ms);
    expect(await counted()).toEqual([300, 50]);
    // The machine started again, and has already received more than before.
    await report(id, [0.5, 400, 5]);
    expect(await counted()).toEqual([700, 55]);
    // Bytes that are reported on the next day count for that day.
    await nextDay();
    await report(id, [9, 1_400, 5]);
    const { days } = await usageOf(a.tenant, `?from=${await today()}`);
    expect(days.at(-1)).toMatchObject({ day: await today(), network_in_bytes: 1_000, network_out_bytes: 0 });
    expect(await counted()).toEqual([1_700, 55]);
    await a.destroy(id);
  });

  test("a node cannot count traffic of an instance on another node", async () => {
    const { id } = await a.running();
    const before = await total();
    const other = await addNode(a.t);
    const metrics = { [id]: { ...COUNTERS, cpu_seconds: 1, network_received_bytes: 5, network_sent_bytes: 5 } };
    okOf(await other.call("POST", "/v1/agent/status", { payload: { metrics } }));
    expect(await total()).toEqual(before);
    await a.destroy(id);
    okOf(await a.t.call("POST", `/v1/cns/${other.server_uuid}/disable`));
  });

  test("a report that is stored eight times at the same time counts once", async () => {
    const { id } = await a.running();
    const [before = 0] = await total();
    const json = JSON.stringify([{
      instance_id: id,
      ...COUNTERS,
      cpu_seconds: 1,
      network_received_bytes: 77,
      network_sent_bytes: 0,
    }]);
    const call = () => a.t.db.query("select store_metrics($1::uuid[], $2::text[], 5)", [[a.node.server_uuid], [json]]);
    await Promise.all(Array.from({ length: 8 }, call));
    expect((await total())[0]! - before).toBe(77);
    await a.destroy(id);
  });
});

test.each([
  ["?from=2026-02-01&to=2026-01-01", "from: 2026-02-01 is after 2026-01-01, the last day"],
  ["?from=2024-01-01&to=2026-01-01", "from: 732 days; ask for at most 366"],
  ["?from=yesterday", "from"],
  ["?to=2026-02-30", "to"],
])("the query %s is refused", async (query, message) => {
  for (
    const path of [`/v1/tenants/${a.tenant.tenant_id}/projects/${a.tenant.project_id}/usage/days`, "/v1/system/usage"]
  ) {
    const answer = await a.t.call("GET", `${path}${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(message);
  }
});

test.each(["0001-01-01", "9999-12-31"])("the usage of %s can be read", async (day) => {
  const path = `/v1/tenants/${a.tenant.tenant_id}/projects/${a.tenant.project_id}/usage/days`;
  expect(okOf(await a.call("GET", `${path}?from=${day}&to=${day}`))).toMatchObject({ from: day, to: day, days: [] });
});

test("with the query parameter limit, the usage of all projects is read in pages", async () => {
  await a.t.db.query(
    `insert into usage_span (tenant_id, project_id, resource, resource_id, vcpus, memory_bytes, disk_bytes,
                             floating_ips, began_at, ended_at)
       select gen_random_uuid(), gen_random_uuid(), 'disk', gen_random_uuid(), 1, 1, 1, 1, berth_now() - interval '1 hour',
              berth_now() from generate_series(1, 5)`,
  );
  const day = await today();
  const read = async (query: string): Promise<SiteUsage> =>
    okOf(await a.t.call("GET", `/v1/system/usage?from=${dayAfter(day, -1)}&to=${day}${query}`));
  const { projects, ...whole } = await read("");
  expect(projects.length).toBeGreaterThanOrEqual(5);
  expect(whole).not.toHaveProperty("next_page");
  const paged: SiteUsage["projects"] = [];
  for (let token = "";;) {
    const page = await read(`&limit=2${token}`);
    expect(page.projects.length).toBeLessThanOrEqual(2);
    paged.push(...page.projects);
    if (page.next_page === undefined) break;
    token = `&page_token=${encodeURIComponent(page.next_page)}`;
  }
  const byId = (one: { project_id: string }, other: { project_id: string }) =>
    one.project_id < other.project_id ? -1 : 1;
  expect(paged).toEqual([...projects].sort(byId));
  const first = await read("&limit=2");
  const rest = await read(`&page_token=${encodeURIComponent(first.next_page ?? "")}`);
  expect(rest.projects).toEqual(paged.slice(2));
});

test("another tenant's usage is hidden, and a tenant does not see all tenants", async () => {
  const other = await openTenant(a.t, "other");
  const path = `/v1/tenants/${a.tenant.tenant_id}/projects/${a.tenant.project_id}/usage/days`;
  expect((await other.call("GET", path)).status).toBe(404);
  expect((await a.call("GET", path)).status).toBe(200);
  expect((await a.call("GET", "/v1/system/usage")).status).toBe(404);
});
