// Tests how days of usage close. No background worker runs, because its maintenance would also close days at any time
// (docs/tenancy.md, "Usage by day").
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { SiteUsage } from "../../src/contract/usage.ts";
import { closeUsage } from "../../src/db/usage.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane({ resident: false });
});
afterAll(() => t.close());
// A day closes in slices, which add rows in the order of their ids. The slices must not find rows of an earlier test.
beforeEach(() => t.db.query("delete from usage_span; delete from usage_traffic"));

const today = async (): Promise<string> => {
  const text = "select to_char(berth_now() at time zone 'UTC', 'YYYY-MM-DD') as day";
  return (await t.db.query<{ day: string }>(text)).rows[0]!.day;
};
const dayAfter = (day: string, days: number) =>
  new Date(Date.parse(day) + days * DAY_S * 1_000).toISOString().slice(0, 10);
const close = () => closeUsage(t.db);
const closedTo = async () =>
  (await t.db.query<{ day: string }>("select day::text as day from usage_closed")).rows[0]!.day;
/** Advances the clock to the beginning of the next day. */
async function nextDay(): Promise<void> {
  const text =
    "select extract(epoch from date_trunc('day', berth_now(), 'UTC') + interval '1 day' - berth_now())::float8 as s";
  await t.advance(Math.ceil((await t.db.query<{ s: number }>(text)).rows[0]!.s));
}

test("the sums of days of random usage spans equal the integral of the usage, before and after the days close", async () => {
  const [tenant_id, project_id] = [randomUUID(), randomUUID()];
  await nextDay();
  const from = await today();
  await t.db.query(
    `insert into usage_span (tenant_id, project_id, resource, resource_id, vcpus, memory_bytes, disk_bytes,
                             floating_ips, began_at, ended_at)
       select $1, $2, 'instance', gen_random_uuid(), (random() * 64)::bigint, (random() * 1e12)::bigint,
              (random() * 1e13)::bigint, (random() * 3)::bigint, b.began_at, b.began_at + random() * interval '60 hours'
         from generate_series(1, 300) n, lateral (select $3::date::timestamp at time zone 'UTC'
                + random() * interval '100 hours' as began_at) b`,
    [tenant_id, project_id, from],
  );
  const { rows: [exact] } = await t.db.query<Record<string, string>>(
    `select sum(vcpus * s)::text as vcpu, sum(memory_bytes * s)::text as memory, sum(disk_bytes * s)::text as disk,
            sum(floating_ips * s)::text as ip
       from usage_span, lateral (select extract(epoch from ended_at - began_at) as s) l where project_id = $1`,
    [project_id],
  );
  await t.advance(9 * DAY_S);
  const sums = async () =>
    (await t.db.query<Record<string, string>>(
      `select trim_scale(sum(vcpu_seconds))::text as vcpu, trim_scale(sum(memory_byte_seconds))::text as memory,
              trim_scale(sum(disk_byte_seconds))::text as disk, trim_scale(sum(floating_ip_seconds))::text as ip
         from usage_between($2, $3, $1)`,
      [project_id, from, dayAfter(from, 9)],
    )).rows[0];
  const trimmed = (await t.db.query(
    "select trim_scale($1::numeric)::text as vcpu, trim_scale($2::numeric)::text as memory, " +
      "trim_scale($3::numeric)::text as disk, trim_scale($4::numeric)::text as ip",
    [exact!["vcpu"], exact!["memory"], exact!["disk"], exact!["ip"]],
  )).rows[0];
  expect(await sums()).toEqual(trimmed);
  // Several processes close at the same time: each day is closed once.
  await Promise.all([close(), close(), close()]);
  await close();
  expect(await closedTo()).toBe(dayAfter(from, 7));
  expect(await sums()).toEqual(trimmed);
  expect((await t.db.query("select from usage_span where project_id = $1", [project_id])).rowCount).toBe(0);
  // The tenant and the project never existed: operators still see what they used.
  const site: SiteUsage = okOf(await t.call("GET", `/v1/system/usage?from=${from}&to=${dayAfter(from, 7)}`));
  expect(site.closed).toBe(true);
  expect(site.projects.find((each) => each.project_id === project_id)).toMatchObject({
    silo: null,
    tenant: null,
    project: null,
  });
});

test.each([
  ["slices", "select 1"],
  ["slices and then an older server", "select usage_close(3600, 1096)"],
])("while %s close a day, the sums of the day do not change, and the whole day closes at once", async (_who, end) => {
  await nextDay();
  await t.advance(HOUR_S);
  await close();
  const day = await today();
  await t.db.query(
    `insert into usage_span (tenant_id, project_id, resource, resource_id, vcpus, memory_bytes, disk_bytes,
                             floating_ips, began_at, ended_at)
       select md5('tenant' || n % 3)::uuid, md5($1::date::text || n % 3)::uuid, 'disk', gen_random_uuid(), n, n * 7, n * 11, 1,
              b.began_at, case when n % 4 > 0 then b.began_at + random() * interval '30 hours' end
         from generate_series(1, 100) n, lateral (select $1::date::timestamp at time zone 'UTC'
                + (random() * 35 - 10) * interval '1 hour' as began_at) b`,
    [day],
  );
  await t.db.query(
    `insert into usage_traffic (instance_id, day, tenant_id, project_id, network_in_bytes, network_out_bytes)
       select gen_random_uuid(), $1::date + n % 2, md5('tenant' || n % 5)::uuid, md5($1::date::text || n % 5)::uuid, n, n * 3
         from generate_series(1, 100) n`,
    [day],
  );
  await t.advance(DAY_S);
  const sums = async () =>
    (await t.db.query<{ closed: boolean; sums: string }>(
      `select bool_or(closed) as closed,
              string_agg(concat_ws(' ', project_id, tenant_id, trim_scale(vcpu_seconds), trim_scale(memory_byte_seconds),
                                   trim_scale(disk_byte_seconds), trim_scale(floating_ip_seconds), network_in_bytes,
                                   network_out_bytes), E'\n' order by project_id) as sums
         from usage_between($1, $1)`,
      [day],
    )).rows[0]!;
  const slice = "select usage_close_slice(3600, 9) as added";
  const open = await sums();
  expect(open).toEqual({ closed: false, sums: expect.stringMatching(/^([^\n]+\n){4}/) });
  // Adds between 72 and 144 of the 150 rows.
  for (let slices = 0; slices < 8; slices++) {
    // A process that is killed during a slice has added nothing.
    await t.db.withClient(async (client) => {
      await client.query("begin");
      await client.query(slice);
      await client.query("rollback");
    });
    await Promise.all([t.db.query(slice), t.db.query(slice)]);
    expect(await sums()).toEqual(open);
  }
  expect((await t.db.query("select from usage_day where day = $1", [day])).rowCount).toBeGreaterThan(0);
  await t.db.query(end);
  while ((await t.db.query<{ added: boolean }>(slice)).rows[0]!.added);
  expect(await closedTo()).toBe(day);
  expect(await sums()).toEqual({ ...open, closed: true });
});

test("a day closes an hour after its end, and no earlier", async () => {
  await nextDay();
  const yesterday = dayAfter(await today(), -1);
  await t.advance(HOUR_S - 120);
  await close();
  expect(await closedTo()).toBe(dayAfter(yesterday, -1));
  await t.advance(120);
  await close();
  expect(await closedTo()).toBe(yesterday);
});
