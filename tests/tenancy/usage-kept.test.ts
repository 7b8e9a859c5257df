// Tests maintenance of the usage of days: the rows that a pass deletes, and the maximum work of one pass
// (docs/tenancy.md, "Usage by day").
import { afterAll, beforeAll, expect, test } from "vitest";
import { SWEEP_ROWS, SWEEPS_PER_PASS, USAGE_KEPT_DAYS, USAGE_SLICES_PER_PASS } from "../../src/contract/limits.ts";
import { closeUsage } from "../../src/db/usage.ts";
import { openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { insertInstance } from "../support/instance-row.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane({ resident: false });
});
afterAll(() => t.close());

const one = async <R>(text: string) => (await t.db.query<R>(text)).rows[0]!;

test("when a day closes, the oldest days and all rows that no open day needs are deleted", async () => {
  const { id: instance } = await one<{ id: string }>(insertInstance());
  const { day, seconds } = await one<{ day: string; seconds: number }>(
    `select day::text, ceil(extract(epoch from (day + 1)::timestamp at time zone 'UTC' - berth_now()))::int as seconds
       from (select (berth_now() at time zone 'UTC')::date as day) today`,
  );
  // Each number is a distance in days from today, which will be the last closed day.
  await t.db.query(
    `insert into usage_span (tenant_id, project_id, resource, resource_id, vcpus, memory_bytes, disk_bytes,
                             floating_ips, began_at, ended_at)
       select gen_random_uuid(), gen_random_uuid(), 'instance', gen_random_uuid(), 1, 1, 1, 0, at - interval '1 minute', at
         from unnest(array[-1, 0, 1]) days,
              lateral (select ($1::date + days)::timestamp at time zone 'UTC' + interval '12 hours' as at) l`,
    [day],
  );
  await t.db.query(
    `insert into usage_traffic select gen_random_uuid(), $1::date + days, gen_random_uuid(), gen_random_uuid(), 1, 1
       from unnest(array[0, 1]) days`,
    [day],
  );
  await t.db.query(
    `insert into usage_counter select id, gen_random_uuid(), null, 1, 1, 1 from unnest(array[$1::uuid, gen_random_uuid()]) id`,
    [instance],
  );
  await t.db.query(
    `insert into usage_day select gen_random_uuid(), $1::date - days, gen_random_uuid(), 1, 1, 1, 1, 1, 1
       from unnest(array[$2::int, $2 - 1]) days`,
    [day, USAGE_KEPT_DAYS],
  );
  await t.advance(seconds + 3_600);
  await closeUsage(t.db);
  const days = (table: string, column: string) =>
    `(select array_agg(((${column})::date - '${day}')::int order by 1) from ${table})`;
  expect(
    await one(
      `select ${days("usage_closed", "day")} as closed,
              ${days("usage_span where ended_at is not null", "ended_at at time zone 'UTC'")} as spans,
              ${days("usage_traffic", "day")} as traffic,
              (select array_agg(instance_id) from usage_counter) as counters,
              (select min(day) - '${day}' from usage_day) as oldest`,
    ),
  ).toEqual({ closed: [0], spans: [0, 1], traffic: [1], counters: [instance], oldest: 1 - USAGE_KEPT_DAYS });
});

test("the work of one pass is limited", async () => {
  const counts = new Map<string, number>();
  const query = (text: string) => {
    const step = /(?:select|delete from) (\w+)/.exec(text)?.[1] ?? text;
    counts.set(step, (counts.get(step) ?? 0) + 1);
    // This database always reports that more work is left.
    return Promise.resolve({ rows: [{ added: true }], rowCount: SWEEP_ROWS });
  };
  await closeUsage({ query } as never);
  expect(Object.fromEntries(counts)).toEqual({
    usage_close_slice: USAGE_SLICES_PER_PASS,
    usage_span: SWEEPS_PER_PASS,
    usage_traffic: SWEEPS_PER_PASS,
    usage_day: SWEEPS_PER_PASS,
    usage_counter: SWEEPS_PER_PASS,
  });
});
