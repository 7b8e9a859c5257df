// Tests the commands for usage, load and audit with a real control plane. The test acts as the node.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ComputeFixture, GIB, openComputeFixture } from "../compute/compute-fixture.ts";
import { okOf } from "../support/control-plane.ts";
import { opsctlAt, serverOf } from "./at-control-plane.ts";
import { ENDPOINT } from "./fake-environment.ts";
import { tenantctl } from "./tenantctl/run.ts";

let a: ComputeFixture;
beforeAll(async () => {
  a = await openComputeFixture();
});
afterAll(() => a?.t.close());

async function printed(argv: string): Promise<string> {
  const { key, tenant_id, project_id } = a.tenant;
  const env = {
    TENANTCTL_ENDPOINT: ENDPOINT,
    TENANTCTL_API_KEY: key,
    TENANTCTL_TENANT: tenant_id,
    TENANTCTL_PROJECT: project_id,
    NO_COLOR: "1",
  };
  const ran = await tenantctl(argv.split(" "), { env, server: serverOf(a.t), newId: randomUUID });
  expect(ran.code, `tenantctl ${argv}: ${ran.err()}`).toBe(0);
  return ran.out();
}

const counters = (cpu_seconds: number) => ({
  cpu_seconds,
  memory_bytes: GIB,
  disk_read_bytes: 0,
  disk_written_bytes: 0,
  network_received_bytes: cpu_seconds * 1_000,
  network_sent_bytes: 0,
});

test("`usage -o csv` prints CSV for a bill: by day for the tenant, and by project for the operator", async () => {
  expect(await printed("usage --from 2020-01-01 --to 2020-01-31")).toBe("(no usage from 2020-01-01 to 2020-01-31)\n");
  const { id } = await a.running({ cpu: 4, memory_bytes: 2 * GIB });
  await a.t.advance(36 * 3_600);
  await a.node.alive();
  okOf(await a.node.call("POST", "/v1/agent/status", { payload: { metrics: { [id]: counters(7) } } }));
  await a.act(id, "stop", "stop");
  const { rows: [range] } = await a.t.db.query<{ from: string; to: string }>(
    `select to_char(d - interval '2 days', 'YYYY-MM-DD') as from, to_char(d, 'YYYY-MM-DD') as to
       from (select berth_now() at time zone 'UTC' as d) n`,
  );
  const query = `--from ${range!.from} --to ${range!.to}`;
  const [header, ...lines] = (await printed(`usage ${query} -o csv`)).trim().split(/\r?\n/);
  expect(header).toBe(
    "day,vcpu_hours,memory_gib_hours,disk_gib_hours,floating_ip_hours,network_in,network_out,closed",
  );
  const rows = lines.map((line) => line.split(","));
  expect(rows.length).toBeGreaterThanOrEqual(2);
  const sum = (column: number) => rows.reduce((total, row) => total + Number(row[column]), 0);
  expect(sum(1)).toBeGreaterThan(4 * 36);
  expect(sum(1)).toBeLessThan(4 * 36.1);
  expect(sum(2)).toBeCloseTo(sum(1) / 2, 3);
  expect(sum(5)).toBe(7_000);
  const site = (await opsctlAt(a.t).printed(`usage ${query} -o csv`)).trim().split(/\r?\n/);
  expect(site).toHaveLength(2);
  expect(site[1]).toMatch(/^acme-silo-\d+\/acme,acme-project,/);
});

test("`instance load` prints a bar for each hour of an instance; the server keeps the load of minutes and hours for a limited time", async () => {
  const { id, name } = await a.running({ name: "loaded", cpu: 2 });
  expect(await printed(`instance load ${name} --by minute`)).toBe("(no load yet: the first minute has not ended)\n");
  const seconds = async () =>
    (await a.t.db.query<{ s: number }>("select extract(epoch from berth_now())::float8 as s")).rows[0]!.s;
  // Starts at the beginning of an hour, so that the hour has exactly 10 minutes with two samples each.
  await a.t.advance(3_600 - (await seconds()) % 3_600);
  const busy = [0, 1, 1, 1, 1, 2, 2, 2, 2, 2];
  let cpu_seconds = 0;
  const from = await seconds();
  for (let half = 0; half <= 20; half += 1) {
    await a.t.advance(Math.max(0, from + half * 30 - await seconds()));
    await a.node.alive();
    const metrics = { [id]: { ...counters(cpu_seconds), simulated: true } };
    okOf(await a.node.call("POST", "/v1/agent/status", { payload: { metrics } }));
    cpu_seconds += 30 * (busy[Math.floor(half / 2)] ?? 0);
  }
  const sum = () => a.t.db.query("select load_materialize(0)");
  await a.t.advance(120);
  await sum();
  await sum();
  const minutes = okOf(await a.call("GET", `/v1/instances/${id}/load?by=minute`));
  expect(minutes.simulated).toBe(true);
  expect(minutes.samples.length).toBeGreaterThanOrEqual(10);
  // Real time also passes between the samples, so the averages are a little lower than the values of the samples.
  for (const { at, cpu, memory_bytes, network_received_bytes_per_s: received } of minutes.samples) {
    const minute = Math.floor((Date.parse(at) / 1_000 - Math.floor(from)) / 60);
    expect(memory_bytes).toBe(GIB);
    if (cpu === null || minute < 1 || minute > 9) continue;
    expect(Math.abs(cpu - (busy[minute]! + busy[minute - 1]!) / 2)).toBeLessThanOrEqual(0.75);
    expect(received).toBeCloseTo(cpu * 1_000, 3);
  }
  expect(Math.max(...minutes.samples.map(({ cpu }: { cpu: number }) => cpu))).toBeGreaterThan(1.5);
  await a.t.advance(3_600);
  await sum();
  const table = await printed(`instance load ${name}`);
  expect(table).toMatch(/VCPUS_BUSY +CHART/);
  expect(table).toMatch(/ #+\.* +1GiB/);
  const hours = okOf(await a.call("GET", `/v1/instances/${id}/load`));
  expect(hours.by).toBe("hour");
  expect(hours.samples).toHaveLength(1);
  expect(hours.samples[0].cpu_max).toBeGreaterThanOrEqual(hours.samples[0].cpu);
  // The server keeps minutes for 6 hours, and hours for 7 days.
  await a.t.advance(6 * 3_600);
  await sum();
  expect(okOf(await a.call("GET", `/v1/instances/${id}/load?by=minute`)).samples).toEqual([]);
  expect(okOf(await a.call("GET", `/v1/instances/${id}/load`)).samples).toHaveLength(1);
  await a.t.advance(7 * 86_400);
  await sum();
  expect(okOf(await a.call("GET", `/v1/instances/${id}/load`)).samples).toEqual([]);
});

test("`audit list` prints the audit events of the tenant, with the newest first", async () => {
  const lines = (await printed("audit list --action instance_create -o csv")).trim().split(/\r?\n/);
  expect(lines[0]).toBe("seq,time,actor,action,resource,decision,outcome");
  expect(lines.length).toBeGreaterThanOrEqual(3);
  for (const line of lines.slice(1)) expect(line).toContain(`api_key ${a.tenant.key_id},instance_create,`);
  expect((await printed("audit list --since 2999-01-01T00:00:00Z")).trim()).toBe("(no audit events)");
});
