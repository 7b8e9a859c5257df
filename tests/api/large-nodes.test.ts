// A list of nodes does not read large values. So a list of nodes with 1 MiB of sysinfo costs as much as a list of small
// nodes. The server refuses registrations above a limit. The list of nodes still works at this limit.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  CLAIMS_PER_SITE_MAX,
  CLAIMS_PER_SOURCE_MAX,
  CN_SYSINFO_PAGE_ROWS_MAX,
  UNPROVEN_NODES_MAX,
} from "../../src/contract/limits.ts";
import { ADDRESS, type Answer, okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane({ resident: false });
});
afterAll(() => t.close());

const NODES = 1_000;
const MIB = 2 ** 20;

/** Replaces all nodes by NODES disabled nodes, each with this many bytes of sysinfo. */
async function nodes(bytes: number): Promise<void> {
  await t.db.withClient(async (client) => {
    await client.query("delete from cn_signal");
    await client.query("delete from cn");
    const one = await client.query<{ server_uuid: string }>(
      `insert into cn (server_uuid, incarnation, version, state, hostname, role, sysinfo, registered_at)
       values (gen_random_uuid(), gen_random_uuid(), 1, 'disabled', 'node', 'tenant',
               jsonb_build_object('pad', repeat('x', $1::int)), berth_now()) returning server_uuid`,
      [bytes],
    );
    // Copies the first row, because PostgreSQL need not compress a copied value again.
    await client.query(
      `insert into cn (server_uuid, incarnation, version, state, hostname, role, sysinfo, registered_at)
       select gen_random_uuid(), gen_random_uuid(), 1, 'disabled', 'node', 'tenant', one.sysinfo, berth_now()
         from cn one cross join generate_series(2, $2::int) where one.server_uuid = $1`,
      [one.rows[0]!.server_uuid, NODES],
    );
    await client.query(
      "insert into cn_signal (server_uuid, last_seen, last_status) select server_uuid, berth_now(), sysinfo from cn",
    );
    // Adds this session's reads to the statistics now, so that they are not added during a measurement.
    await client.query("select pg_stat_force_next_flush()");
  });
}

const TOAST = `select coalesce(sum(pg_stat_get_blocks_fetched(c.reltoastrelid)), 0)::int as blocks
  from pg_class c where c.relname in ('cn', 'cn_signal')`;
const SESSIONS = "select pid from pg_stat_activity where datname = current_database()";

const largeBlocks = async () => (await t.db.query<{ blocks: number }>(TOAST)).rows[0]!.blocks;
const sessions = async () => (await t.db.query<{ pid: number }>(SESSIONS)).rows.map(({ pid }) => pid);

/** Sends a GET to a separate control plane. Returns the answer and the number of TOAST blocks that were read for it. */
async function measured(path: string): Promise<{ readonly answer: Answer; readonly blocks: number }> {
  const others = new Set(await sessions());
  const own = await openTestControlPlane({ databaseUrl: t.databaseUrl, resident: false });
  const before = await largeBlocks();
  const answer = await own.call("GET", path).finally(() => own.close());
  // A session may add its reads to the statistics only when the session ends. So the function waits until the new
  // sessions have ended.
  await expect.poll(async () => (await sessions()).filter((pid) => !others.has(pid)), { timeout: 10_000 }).toEqual([]);
  return { answer, blocks: await largeBlocks() - before };
}

test(
  `a list of ${NODES} nodes with 1 MiB of sysinfo is as long as a list of small nodes, and reads no large value`,
  async () => {
    await nodes(1);
    const small = await t.call("GET", "/v1/system/cns");
    await nodes(MIB);
    const started_ms = performance.now();
    const { answer: large, blocks } = await measured("/v1/system/cns");
    console.log(
      `${NODES} nodes of 1 MiB: ${Math.round(performance.now() - started_ms)} ms, ${large.text.length} bytes`,
    );
    expect(large.status).toBe(200);
    // The times in the two answers can differ in length by a few digits.
    expect(Math.abs(large.text.length - small.text.length)).toBeLessThan(NODES * 8);
    expect(large.body.items).toHaveLength(NODES);
    expect(large.body.items[0]).toMatchObject({ sysinfo: null, last_status: null });
    expect(blocks).toBe(0);
    expect((await measured("/v1/system/cns?include=sysinfo&limit=2")).blocks).toBeGreaterThan(0);
  },
  60_000,
);

describe("large columns", () => {
  test("are in a small page if the request asks for them with include", async () => {
    const { items, next_page } = okOf(await t.call("GET", "/v1/system/cns?include=sysinfo&limit=2"));
    expect(items.map((node: { sysinfo: { pad: string } }) => node.sysinfo.pad.length)).toEqual([MIB, MIB]);
    expect(next_page).toEqual(expect.any(String));
  });

  test.each(["", "&limit=51", "&limit=1000"])(
    "are refused for a whole list or a large page: include=sysinfo%s gets 400",
    async (rest) => {
      const answer = await t.call("GET", `/v1/system/cns?include=sysinfo${rest}`);
      expect(answer).toMatchObject({
        status: 400,
        body: { message: `include=sysinfo needs limit= of at most ${CN_SYSINFO_PAGE_ROWS_MAX}` },
      });
    },
  );
});

describe("registrations", () => {
  const register = (fields: Record<string, unknown> = {}, address = ADDRESS) =>
    t.call("POST", "/v1/agent/register", {
      key: null,
      address,
      body: { server_uuid: randomUUID(), hostname: "n", sysinfo: {}, ...fields },
    });

  /** Inserts claims of one node from this source. The first claim expires in 10 minutes. */
  async function claims(count: number, bucket: string): Promise<void> {
    await t.db.query(
      `insert into enrolment_claim (id, incarnation, version, state, server_uuid, claim_code, expires_at, registration_id,
         poll_token_sha256, hostname, sysinfo, macs, source, source_bucket, created_at)
       select gen_random_uuid(), gen_random_uuid(), 1, 'live', (select min(server_uuid::text)::uuid from cn),
              $2 || n, berth_now() + interval '10 minutes' + n * interval '1 ms', gen_random_uuid(), $2 || n, 'n', '{}',
              '{}', $2, $2, berth_now() from generate_series(1, $1::int) n`,
      [count, bucket],
    );
  }

  const expectFull = (answer: Awaited<ReturnType<typeof register>>, text: string) => {
    expect(answer).toMatchObject({ status: 429, body: { error_code: "TooManyRequests" } });
    expect(answer.body.message).toContain(text);
    const wait_s = Number(answer.headers.get("retry-after"));
    expect(wait_s).toBeGreaterThan(0);
    expect(wait_s).toBeLessThanOrEqual(3_600);
  };

  test("of 200 concurrent nodes behind one address, such as a rack, are accepted", async () => {
    const answers = await Promise.all(Array.from({ length: 200 }, () => register()));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const { rows } = await t.db.query("select name, remaining from budget order by name");
    expect(rows).toMatchObject([
      { name: "claims", remaining: CLAIMS_PER_SITE_MAX - 200 },
      { name: `claims-from:${ADDRESS}`, remaining: CLAIMS_PER_SOURCE_MAX - 200 },
      { name: "unproven-nodes", remaining: UNPROVEN_NODES_MAX - 200 },
    ]);
  });

  test(`of one source are refused at ${CLAIMS_PER_SOURCE_MAX} claims; other sources are not affected`, async () => {
    await claims(CLAIMS_PER_SOURCE_MAX - 1, "198.51.100.1");
    expect((await register({}, "198.51.100.1")).status).toBe(200);
    expectFull(await register({}, "198.51.100.1"), "this source address has");
    expect((await register({}, "198.51.100.2")).status).toBe(200);
  });

  test("of one IPv6 network count as one source", async () => {
    await claims(CLAIMS_PER_SOURCE_MAX, "2001:db8:1:2::/64");
    expectFull(await register({}, "2001:db8:1:2::77"), "this source address has");
  });

  test(`of many sources are refused at ${UNPROVEN_NODES_MAX} nodes that were never approved, and the list of nodes still works`, async () => {
    await t.db.query("update budget set remaining = 1 where name = 'unproven-nodes'");
    expect((await register()).status).toBe(200);
    expectFull(await register(), `${UNPROVEN_NODES_MAX} nodes that registered and were never approved`);
    expect((await t.call("GET", "/v1/system/cns")).status).toBe(200);
  });

  test(`of many sources are refused at ${CLAIMS_PER_SITE_MAX} claims, even for known nodes`, async () => {
    const known = (await t.db.query("select server_uuid from cn where state = 'pending' limit 1")).rows[0];
    await t.db.query("update budget set remaining = 0 where name = 'claims'");
    expectFull(await register({ server_uuid: known!.server_uuid }), "the site has");
  });
});
