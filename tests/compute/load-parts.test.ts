// Tests how the load of nodes and instances is summarized. Each statement summarizes a limited part, so that on a large
// site no statement exceeds its time limit. Old samples are deleted even if no summary is due.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readFleetLoad } from "../../actors/cn-load/reads.ts";
import { LOAD_SUMS_PER_MINUTE, SWEEP_ROWS } from "../../src/contract/limits.ts";
import { materializeLoad } from "../../src/db/load.ts";
import { insertInstance } from "../support/instance-row.ts";
import { openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";

const INTERVAL_S = 60;
const INSTANCES = 5;
const NODES = 3;
/** The start of a minute that has ended and whose summary is due, as SQL. HOUR is the same for an hour. */
const MINUTE = "(date_trunc('minute', berth_now()) - interval '2 minutes')";
const HOUR = "(date_trunc('hour', berth_now()) - interval '2 hours')";

let t: TestControlPlane;
let nodes: string[];

beforeAll(async () => {
  t = await openTestControlPlane({ resident: false });
  for (let n = 0; n < INSTANCES; n++) await t.db.query(insertInstance());
  nodes = [];
  for (let n = 0; n < NODES; n++) nodes.push((await t.approvedNode()).server_uuid);
});
afterAll(() => t.close());
beforeEach(async () => {
  for (
    const table of [
      "instance_metrics",
      "instance_load",
      "cn_load_sample",
      "cn_load_hour",
      "cn_load_fleet",
      "cn_load_summary",
      "load_pass",
    ]
  ) {
    await t.db.query(`delete from ${table}`);
  }
});

/**
 * Stores two samples of each instance in the minute that begins at `minute`. Between the two samples, half a vCPU was
 * busy.
 */
async function addSamples(minute: string): Promise<void> {
  await t.db.query(
    `insert into instance_metrics (instance_id, at, cpu_seconds, memory_bytes, disk_read_bytes, disk_written_bytes,
         network_received_bytes, network_sent_bytes)
       select id, ${minute} + make_interval(secs => s), s / 2.0, 1, 0, 0, 0, 0 from instance, unnest(array[10, 40]) s`,
  );
}

/** Records that the period before `period` is the last summarized period. */
const summedBefore = (step: "minute" | "hour", period: string) =>
  t.db.query(
    `update instance_load_done set at = ${period} - ('1 ' || step)::interval, part_of = null, part_after = null
      where step = '${step}'`,
  );

async function part(step: "minute" | "hour", instances: number | null): Promise<boolean> {
  const { rows } = await t.db.query<{ more: boolean }>("select instance_load_part($1, $2) as more", [step, instances]);
  return rows[0]!.more;
}

const countOf = async (from: string) =>
  (await t.db.query<{ n: number }>(`select count(*)::int as n from ${from}`)).rows[0]!.n;

test("each part of a minute's summary begins after the last instance of the previous part", async () => {
  await addSamples(MINUTE);
  await summedBefore("minute", MINUTE);
  for (const summed of [2, 4, 5]) {
    expect(await part("minute", 2)).toBe(true);
    expect(await countOf("instance_load where cpu = 0.5")).toBe(summed);
  }
  while (await part("minute", 2));
  expect(await countOf("instance_load")).toBe(INSTANCES);
  expect(await countOf("instance_load_done where part_of is not null")).toBe(0);
});

test("each part of an hour's summary begins after the last instance of the previous part", async () => {
  await summedBefore("minute", `(${HOUR} + interval '1 hour')`);
  await summedBefore("hour", HOUR);
  await t.db.query(
    `insert into instance_load select id, 'minute', ${HOUR} + make_interval(mins => m), m, m, 1, 0, 0, 0, 0, false
       from instance, unnest(array[0, 30, 60]) m`,
  );
  for (const summed of [2, 4, 5]) {
    expect(await part("hour", 2)).toBe(true);
    expect(await countOf("instance_load where step = 'hour' and cpu = 15 and cpu_max = 30")).toBe(summed);
  }
  expect(await part("hour", 2)).toBe(false);
});

test("if a partly summarized minute becomes too old, the next summarized minute still includes all instances", async () => {
  await addSamples(MINUTE);
  await summedBefore("minute", MINUTE);
  expect(await part("minute", 2)).toBe(true);
  await t.advance(2 * 3_600);
  await addSamples("date_trunc('minute', berth_now() - interval '1 hour')");
  expect(await part("minute", null)).toBe(true);
  expect(await countOf("instance_load")).toBe(2 + INSTANCES);
});

/** Stores a summary and a current sample of each node. The summary of the first node is the oldest. */
async function addSummaries(): Promise<void> {
  await t.db.query(
    `insert into cn_load_summary (server_uuid, summary, last_refreshed_at, long_at)
       select id::uuid, '{}', berth_now(), berth_now() - interval '1 hour' + make_interval(mins => n::int)
         from unnest($1::text[]) with ordinality u(id, n)`,
    [nodes],
  );
  await t.db.query("insert into cn_load_sample select id::uuid, berth_now(), 0.5, 0.5 from unnest($1::text[]) id", [
    nodes,
  ]);
}

test("the oldest summaries of a day and a week are updated first, each only once, and only with current samples", async () => {
  await addSummaries();
  const updated = "cn_load_summary where summary ? 'samples_7d'";
  for (const [count, total] of [[2, 2], [1, 3], [0, 3]]) {
    expect((await t.db.query("select load_long(2) as updated")).rows).toEqual([{ updated: count }]);
    expect(await countOf(updated)).toBe(total);
    expect(await countOf(`${updated} and server_uuid = '${nodes[NODES - 1]}'`)).toBe(total === NODES ? 1 : 0);
  }
  await t.db.query("update cn_load_summary set long_at = null");
  await t.db.query("update cn_load_sample set at = at - interval '5 minutes' where server_uuid <> $1", [nodes[0]]);
  expect((await t.db.query("select load_long(9) as updated")).rows).toEqual([{ updated: 1 }]);
});

test("the load of all nodes in an hour is stored when the hour has ended, and does not change when the nodes' hours are deleted", async () => {
  await t.db.query(
    `insert into cn_load_hour
       select id::uuid, date_trunc('hour', berth_now()) - make_interval(hours => h), n / 10.0,
              array_fill(0, array[4 * n::int]) || array[3] || array_fill(0, array[19 - 4 * n::int])
         from unnest($1::text[]) with ordinality u(id, n), unnest(array[0, 2, 30]) h`,
    [nodes],
  );
  const { hours } = await readFleetLoad(t.db.kysely);
  expect(hours).toHaveLength(3);
  // The nodes' samples are in the fifth, ninth and thirteenth of twenty ranges. The mean uses the middle of each range.
  for (const hour of hours) expect(hour).toMatchObject({ cpu_mean: 0.425, cpu_max: 0.3, nodes: NODES });
  for (const stored of [1, 1, 0]) {
    expect((await t.db.query("select load_fleet(1) as stored")).rows).toEqual([{ stored }]);
    expect(await readFleetLoad(t.db.kysely)).toEqual({ hours });
  }
  await t.db.query("delete from cn_load_hour");
  expect(await readFleetLoad(t.db.kysely)).toEqual({ hours: hours.slice(0, 2) });
});

test("the load of all nodes in an hour is stored ten minutes after the hour, and not if the hour is a week old", async () => {
  const { rows: [next] } = await t.db.query<{ seconds: number }>(
    "select ceil(extract(epoch from date_trunc('hour', berth_now()) + interval '1 hour' - berth_now()))::int as seconds",
  );
  await t.db.query(
    `insert into cn_load_hour select id::uuid, date_trunc('hour', berth_now()) - age, 1, array_fill(1, array[20])
       from unnest($1::text[]) id, unnest(array['0 days', '7 days']::interval[]) age`,
    [nodes],
  );
  const store = async () => (await t.db.query<{ stored: number }>("select load_fleet(9) as stored")).rows[0]!.stored;
  expect(await store()).toBe(0);
  await t.advance(next!.seconds + 9 * 60);
  expect(await store()).toBe(0);
  await t.advance(60);
  expect(await store()).toBe(1);
});

test("if the update of the summaries of a day and a week fails, the pass does its other steps, and then reports the error", async () => {
  await addSummaries();
  await addSamples(MINUTE);
  await summedBefore("minute", MINUTE);
  await t.db.query(`create function refuse_long() returns trigger language plpgsql as
    $$ begin raise 'no update of a day'; end $$`);
  await t.db.query(`create trigger refuse_long before update of long_at on cn_load_summary
    for each row execute function refuse_long()`);
  try {
    await expect(materializeLoad(t.db, INTERVAL_S)).rejects.toThrow("no update of a day");
  } finally {
    await t.db.query("drop function refuse_long cascade");
  }
  expect(await countOf("cn_load_summary where summary @> '{\"cpu_max_5m\": 0.5}'")).toBe(NODES);
  expect(await countOf("instance_load where step = 'minute'")).toBe(INSTANCES);
});

describe("if there is always more work", () => {
  /** Runs a pass, and returns the number of its statements by their function or table. */
  async function pass(interval_s: number, statements_max = Infinity): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    let statements = 0;
    const query = (text: string) => {
      statements += 1;
      const step = /(?:select|delete from) (\w+)/.exec(text)?.[1] ?? text;
      counts.set(step, (counts.get(step) ?? 0) + 1);
      return Promise.resolve({ rows: [{ did: true, more: true }], rowCount: SWEEP_ROWS });
    };
    await materializeLoad({ query } as never, interval_s, () => statements >= statements_max);
    return counts;
  }

  test("the number of statements of a pass is limited, and the limit is larger for a longer interval", async () => {
    const [short, long] = [await pass(60), await pass(600)];
    expect(short.get("load_sample")).toBe(1);
    expect(short.get("instance_load_part")).toBe(2 * LOAD_SUMS_PER_MINUTE);
    for (const [step, count] of short) {
      expect([step, long.get(step)]).toEqual([step, step === "load_sample" ? 1 : 10 * count]);
    }
    expect(await pass(1)).toEqual(short);
  });

  test.each([1, 3, 50])(
    "a pass that is stopped after %i statements starts no further statement",
    async (statements) => {
      const counts = await pass(60, statements);
      expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBe(statements);
    },
  );
});

test("old samples and summaries are deleted although no summary is due", async () => {
  await t.db.query("insert into load_pass values (true, berth_now())");
  for (const age of ["7 days", "6 days"]) {
    await t.db.query("insert into cn_load_fleet values (berth_now() - $1::interval, 0.5, 0.5, 1)", [age]);
    await t.db.query(
      `insert into cn_load_hour select id::uuid, berth_now() - $2::interval, 0.5, array_fill(1, array[20])
         from unnest($1::text[]) id`,
      [nodes, age],
    );
    await t.db.query(
      `insert into instance_load select id, 'hour', berth_now() - $1::interval, 1, 1, 1, 0, 0, 0, 0, false from instance`,
      [age],
    );
  }
  for (const age of ["6 hours", "5 hours"]) {
    await t.db.query(
      `insert into instance_load select id, 'minute', berth_now() - $1::interval, 1, 1, 1, 0, 0, 0, 0, false
         from instance`,
      [age],
    );
  }
  await addSamples("(berth_now() - interval '2 hours')");
  await addSamples("(berth_now() - interval '30 minutes')");
  for (const age of ["5 minutes", "2 minutes"]) {
    await t.db.query(
      "insert into cn_load_sample select id::uuid, berth_now() - $2::interval, 0.5, 0.5 from unnest($1::text[]) id",
      [nodes, age],
    );
  }
  await t.plane.pass();
  expect(await countOf("cn_load_hour")).toBe(NODES);
  expect(await countOf("cn_load_fleet")).toBe(1);
  expect(await countOf("cn_load_sample")).toBe(NODES);
  expect(await countOf("instance_load where step = 'hour'")).toBe(INSTANCES);
  expect(await countOf("instance_load where step = 'minute'")).toBe(INSTANCES);
  expect(await countOf("instance_metrics")).toBe(2 * INSTANCES);
});
