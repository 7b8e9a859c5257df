// Tests the routes that show the capacity and load of the fleet and of one node.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ComputeFixture, GIB, openComputeFixture } from "../compute/compute-fixture.ts";
import { okOf } from "../support/control-plane.ts";
import { newLogin } from "./login.ts";

let f: ComputeFixture;
let node: string;
beforeAll(async () => {
  f = await openComputeFixture();
  node = f.node.server_uuid;
  await f.running({ cpu: 3, memory_bytes: 5 * GIB });
  await f.t.approvedNode();
});
afterAll(() => f.t.close());

const get = async (path: string) => okOf(await f.t.call("GET", path));

test("the fleet's capacity contains the nodes that report, the resources of placed instances, and the quotas", async () => {
  const limits = { cpu_limit: 40, memory_bytes: 100 * GIB, disk_bytes: 1_000 * GIB, instance_limit: 7 };
  okOf(await f.t.call("PUT", `/v1/tenants/${f.tenant.tenant_id}/quota`, { body: limits }));
  const { placed, ...rest } = await get("/v1/system/capacity");
  expect(rest).toMatchObject({
    nodes: { approved: 2, reporting: 1 },
    physical: {
      cpu: 16,
      memory_bytes: 64 * GIB,
      disk_bytes: 4_000_000_000_000,
      disk_free_bytes: 3_000_000_000_000,
    },
    quotas: { cpu: 40, memory_bytes: 100 * GIB, disk_bytes: 1_000 * GIB, instances: 7 },
    tenants: { with_quota: 1 },
  });
  expect(placed).toMatchObject({ cpu: 3, memory_bytes: 5 * GIB, instances: 1 });
  expect((await get(`/v1/system/cns/${node}/capacity`)).placed).toEqual(placed);
});

test("a sum above 2^53 - 1, the greatest exact JSON number, is shown as this number", async () => {
  const most = Number.MAX_SAFE_INTEGER;
  const pool = { name: "zones", total_bytes: most, free_bytes: most, tier: "nvme" };
  const zpools = Array.from({ length: 1_025 }, () => pool);
  await f.node.alive({ cpu_threads_logical: most, ram_total_mb: most, zpools });
  const { physical } = await get("/v1/system/capacity");
  expect(physical).toEqual({ cpu: most, memory_bytes: most, disk_bytes: most, disk_free_bytes: most });
  await f.node.alive();
  // A quota that limits only the vCPUs has the number `most` for the other limits.
  await f.t.db.query(
    `with made as (
       insert into tenant
       select (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), 'name', 'tenant-' || n))).*
         from tenant t, generate_series(1, 1025) n where t.id = $2 returning id)
     insert into tenant_quota
     select (jsonb_populate_record(q, jsonb_build_object('tenant_id', made.id, 'memory_bytes', $1::bigint,
              'disk_bytes', $1::bigint))).* from tenant_quota q, made`,
    [most, f.tenant.tenant_id],
  );
  expect((await get("/v1/system/capacity")).quotas).toMatchObject({ memory_bytes: most, disk_bytes: most });
});

test("a node's capacity contains its last report, or null if the node never reported", async () => {
  const { report, reported_at } = await get(`/v1/system/cns/${node}/capacity`);
  expect(report).toMatchObject({ cpu_threads_logical: 16, ram_total_mb: 65_536 });
  expect(Date.parse(reported_at)).toBeGreaterThan(0);
  const { server_uuid } = await f.t.register();
  expect(await get(`/v1/system/cns/${server_uuid}/capacity`)).toEqual({
    report: null,
    reported_at: null,
    placed: { cpu: 0, memory_bytes: 0, disk_bytes: 0, instances: 0 },
  });
});

test("a node's load has samples and a mean for each hour, and the fleet's load has the mean of all nodes for each hour", async () => {
  const counts = (...at: readonly number[]) => Array.from({ length: 20 }, (_, index) => at.includes(index) ? 1 : 0);
  const { server_uuid: other } = await f.t.register();
  const insert = `insert into cn_load_hour values ($1, date_trunc('hour', berth_now()) - interval '2 hours', $2, $3)`;
  await f.t.db.query(insert, [node, 0.42, counts(0, 8)]);
  await f.t.db.query(insert, [other, 0.98, counts(19)]);
  await f.t.db.query("insert into cn_load_sample values ($1, berth_now(), 0.5, null)", [node]);
  const { samples, hours } = await get(`/v1/system/cns/${node}/load`);
  expect(samples.at(-1)).toMatchObject({ cpu: 0.5, ram_used: null });
  expect(hours).toEqual([{ hour: hours[0].hour, cpu_mean: 0.225, cpu_max: 0.42 }]);
  const fleet = await get("/v1/system/load");
  expect(fleet.hours).toEqual([{ hour: hours[0].hour, cpu_mean: 0.6, cpu_max: 0.98, nodes: 2 }]);
  expect(await get(`/v1/system/cns/${(await f.t.register()).server_uuid}/load`)).toEqual({ samples: [], hours: [] });
});

test("a user with system-read can read the capacity and the load; a tenant's key gets 404", async () => {
  const reader = await newLogin(f.t, { capabilities: ["system-read"] });
  for (const path of ["capacity", "load", `cns/${node}/capacity`, `cns/${node}/load`]) {
    expect((await f.t.call("GET", `/v1/system/${path}`, { key: reader.token })).status).toBe(200);
    expect((await f.t.call("GET", `/v1/system/${path}`, { key: f.tenant.key })).status).toBe(404);
  }
});
