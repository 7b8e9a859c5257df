// Runs the doctor on a system with every kind of object. At first the doctor must find no violation. After a statement
// has violated a rule, the check of this rule must find the violation (docs/reliability.md, "Invariants").
import { afterAll, beforeAll, expect, test } from "vitest";
import { behaviors } from "../../actors/registry.ts";
import type { CheckResult, DoctorReport } from "../../src/contract/doctor.ts";
import { CONDITIONS } from "../../src/doctor/conditions.ts";
import type { Db, DbClient } from "../../src/db/pool.ts";
import { databaseVersion } from "../../src/doctor/environment.ts";
import { examine } from "../../src/doctor/examine.ts";
import { invariants, OUTSIDE } from "../../src/doctor/invariants.ts";
import { VERSION } from "../../src/version.ts";
import { makeObjects } from "../api/objects.ts";
import { enqueue, type JobNode, nodeCalls, takeAway } from "../compute/jobs.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { announce, newMachine, putPolicy, seen } from "../setup/machine.ts";
import { BROKEN } from "./violations.ts";

const CHECKS = [...invariants(behaviors), ...CONDITIONS];
/** The same checks with the scope `recent`, in the same order. */
const RECENT = [...invariants(behaviors, "recent"), ...CONDITIONS];

let t: TestControlPlane;

beforeAll(async () => {
  t = await openTestControlPlane();
  await makeObjects(t);
  // makeObjects leaves the instance with an operation that does not exist. The statement removes the operation from the
  // instance.
  await t.db.query(
    "update instance set state = 'running', operation_id = null, operation_kind = null, version = version - 1",
  );
  okOf(await putPolicy(t));
  const machine = newMachine();
  okOf(await seen(t, machine.macs[0]!));
  okOf(await announce(t, machine));
  const second = await t.approvedNode();
  okOf(await t.call("POST", "/v1/agent/heartbeat", { key: second.api_key }));
  okOf(await t.call("POST", "/v1/cn-auto-approve", { body: { duration_secs: 600, count: 5 } }));
  okOf(await t.call("GET", "/v1/audit/events"));
}, 60_000);

afterAll(() => t?.close());

async function report(): Promise<DoctorReport> {
  return okOf(await t.call("GET", "/v1/system/doctor"));
}

const statusOf = ({ checks }: DoctorReport, id: string) =>
  checks.filter((check) => check.id === id).map(({ status }) => status);

test("on a healthy system all checks are ok; invariants that no query can check are skipped with a reason", async () => {
  const { status, checks } = await report();
  const wrong = checks.filter((check) => check.status !== "ok" && check.status !== "skip");
  expect(wrong.map(({ id, title, found }) => ({ id, title, found }))).toEqual([]);
  expect(status).toBe("ok");
  const skipped = checks.filter((check) => check.status === "skip");
  expect(skipped.map(({ id }) => id)).toEqual(OUTSIDE.map(({ id }) => id));
  expect(skipped.every(({ facts }) => facts.length === 1)).toBe(true);
});

test("every invariant from INV-1 to INV-20 is checked or skipped with a reason", () => {
  const ids = new Set([...invariants(behaviors), ...OUTSIDE].map(({ id }) => id));
  const wanted = Array.from({ length: 20 }, (_, index) => `INV-${index + 1}`);
  expect([...ids].sort()).toEqual([...wanted, "INV-3b"].sort());
});

test("violations.ts has a statement that violates each check", () => {
  expect(CHECKS.map(({ title }) => title).sort()).toEqual(Object.keys(BROKEN).sort());
});

test.each(CHECKS.map((check, place) => [`${check.id}: ${check.title}`, check, RECENT[place]!] as const))(
  "the check finds a violation, in the whole log and in the newest part of the log: %s",
  async (_name, { title, query }, recent) => {
    expect(recent.title).toBe(title);
    await t.db.withClient(async (client) => {
      expect((await client.query(query)).rows).toEqual([]);
      expect((await client.query(recent.query)).rows).toEqual([]);
      await client.query("begin");
      // Disables foreign keys and triggers, because they could reject the statement.
      await client.query("set local session_replication_role = replica");
      for (const statement of BROKEN[title]!.split(";\n")) await client.query(statement);
      const { rows } = await client.query<{ what: string }>(query);
      expect((await client.query(recent.query)).rows.length, recent.query).toBeGreaterThan(0);
      await client.query("rollback");
      expect(rows.length).toBeGreaterThan(0);
      for (const { what } of rows) expect(what).toMatch(/\S/);
    });
  },
);

const OF_NICS = [
  ["no address has two holders", "update nic set additional_ips = array[(select primary_ipv4 from nic limit 1)]"],
  ["no address has two holders", "update nic set additional_ips = '{10.1.2.3,10.1.2.3}'"],
  [
    "no address is both free and in use",
    `insert into pool_range select p.id, n.primary_ipv4 - p.base - 1, n.primary_ipv4 - p.base + 1
       from nic n join pool p on p.id = 'subnet:' || n.subnet_id || ':v4' limit 1 on conflict do nothing`,
  ],
  [
    "no address is both free and in use",
    `update nic set additional_ips = array[p.base + f.high] from pool p join pool_range f on f.pool_id = p.id
      where p.id = 'subnet:' || subnet_id || ':v4'`,
  ],
  ["the free and the used addresses of a pool add up to its size", "delete from nic"],
  ["the free and the used addresses of a pool add up to its size", "update nic set additional_ips = '{10.1.2.3}'"],
] as const;

test.each(OF_NICS)("the check finds a violation by a NIC: %s: %s", async (title, statement) => {
  const query = CHECKS.find((check) => check.title === title)!.query;
  await t.db.withClient(async (client) => {
    await client.query("begin");
    await client.query("set local session_replication_role = replica");
    await client.query(statement);
    const { rows } = await client.query<{ what: string }>(query);
    await client.query("rollback");
    expect(rows.length).toBeGreaterThan(0);
    for (const { what } of rows) expect(what).toMatch(/\S/);
  });
});

test("INV-1 does not require a reply to a tell that was delivered more than a day after it was written", async () => {
  const [{ query }] = CHECKS.filter(({ id }) => id === "INV-1") as [(typeof CHECKS)[number]];
  await t.db.withClient(async (client) => {
    await client.query("begin");
    const age = (days: number) =>
      client.query(
        `update transition set msg_id = seen_bound(((now() - interval '12 hours') at time zone 'UTC')::date - $1::int)
          where id = (select min(id) from transition where actor_kind = 'vpc')`,
        [days],
      );
    await age(0);
    expect((await client.query(query)).rows).toHaveLength(1);
    await age(1);
    expect((await client.query(query)).rows).toEqual([]);
    await client.query("rollback");
  });
});

test("a stuck operation is a warning and a violated invariant is a failure; each check shows at most twenty findings", async () => {
  const { rows: [saga] } = await t.db.query<{ id: string }>(
    `insert into saga (id, incarnation, version, state, saga, params, refs, outputs, steps, early, created_at,
       stuck_reason)
     select gen_random_uuid(), gen_random_uuid(), 1, 'stuck', 'node-join', '{}', '[]', '{}', '{}', '{}', berth_now(),
            'the undo failed' from generate_series(1, 21) returning id`,
  );
  const ill = await report();
  expect(ill.status).toBe("fail");
  const [stuck] = ill.checks.filter(({ id }) => id === "operations-stuck") as [CheckResult];
  expect(stuck).toMatchObject({
    status: "warn",
    more: true,
    mend: expect.stringContaining("opsctl operation abandon"),
  });
  expect(stuck.found).toHaveLength(20);
  expect(stuck.found[0]).toMatch(/^operation [0-9a-f-]{36} \(node-join\): the undo failed$/);
  // The inserted operations violate INV-6, because the transition log does not contain them.
  expect(statusOf(ill, "INV-6")).toEqual(["fail"]);
  expect(saga).toBeDefined();
  await t.db.query("delete from saga where stuck_reason = 'the undo failed'");
  expect((await report()).status).toBe("ok");
});

test("the jobs that a node does not claim or undo are reported until the node is removed", async () => {
  // The auto-approve window approves the node.
  const registered = await t.register();
  const status = await t.call("GET", `/v1/agent/register/status?poll_token=${registered.poll_token}`, { key: null });
  const node: JobNode = { ...registered, ...okOf(status) };
  const lost = await enqueue(t, node);
  await nodeCalls(t, node).claim();
  await takeAway(t, lost);
  const waiting = await enqueue(t, node);
  await t.db.query(
    `update job set created_at = created_at - interval '11 minutes', completed_at = completed_at - interval '11 minutes'
      where id = any($1)`,
    [[lost, waiting]],
  );
  const ill = await report();
  expect([statusOf(ill, "jobs-taken"), statusOf(ill, "jobs-undone")]).toEqual([["warn"], ["warn"]]);
  okOf(await t.call("POST", `/v1/cns/${node.server_uuid}/disable`));
  okOf(await t.call("DELETE", `/v1/cns/${node.server_uuid}`));
  const without = await report();
  expect([statusOf(without, "jobs-taken"), statusOf(without, "jobs-undone")]).toEqual([["ok"], ["ok"]]);
  await t.db.query("delete from job where id = any($1)", [[lost, waiting]]);
});

test("a node's status report with an unexpected form does not stop the doctor", async () => {
  const { rows } = await t.db.query<{ last_status: unknown }>("select last_status from cn_signal");
  const others = [
    "null",
    "1",
    '"x"',
    "[]",
    "[1]",
    '{"pools": 1}',
    '{"pools": [1]}',
    '{"pools": {"zones": "DEGRADED"}}',
  ];
  for (const text of others) {
    await t.db.query("update cn_signal set last_status = $1::jsonb", [text]);
    expect(statusOf(await report(), "pools-whole"), text).toEqual(["ok"]);
  }
  await t.db.query("update cn_signal set last_status = $1", [rows[0]!.last_status]);
});

test("a check that cannot run now is skipped with a reason, and the other checks run", async () => {
  const held = t.db.withClient(async (client) => {
    await client.query("begin");
    await client.query("lock table staging in access exclusive mode");
    const ill = await report();
    await client.query("rollback");
    return ill;
  });
  const { checks } = await held;
  const left_out = checks.filter(({ status, facts }) =>
    status === "skip" && facts.includes("a migration is changing a table that the check reads")
  );
  expect(left_out.map(({ id }) => id).sort()).toEqual(["INV-2", "INV-6"]);
  expect(checks).toHaveLength((await report()).checks.length);
});

test("the checks run on two connections with one snapshot, or on one connection if the second cannot be opened", async () => {
  const log: string[] = [];
  let connections = 0;
  const watched = (enough: boolean): Db => ({
    ...t.db,
    withClient: (use) => {
      const number = ++connections;
      if (number > 1 && !enough) return Promise.reject(new Error("timeout exceeded when trying to connect"));
      return t.db.withClient((client) =>
        use({
          query: async (sql, params, name) => {
            log.push(`${number} ${sql}`);
            return await client.query(sql, params, name);
          },
        })
      );
    },
  });
  const options = { kinds: behaviors, release: VERSION, now_ms: Date.now, scope: "recent" } as const;
  const both = await examine(watched(true), options);
  const checksOn = (number: number) => log.filter((line) => line.startsWith(`${number} select what from`)).length;
  expect(checksOn(1) + checksOn(2)).toBe(CHECKS.length);
  expect([checksOn(1) > 0, checksOn(2) > 0]).toEqual([true, true]);
  expect(log.filter((line) => line.startsWith("2 set transaction snapshot"))).toHaveLength(1);
  [log.length, connections] = [0, 0];
  const alone = await examine(watched(false), options);
  expect(checksOn(1)).toBe(CHECKS.length);
  expect(alone.checks.map(({ id, title, status }) => ({ id, title, status })))
    .toEqual(both.checks.map(({ id, title, status }) => ({ id, title, status })));
});

test("the doctor reports a migration or function that is not applied, has another text, or is from a newer build", async () => {
  const migrations = async () => (await report()).checks.find(({ id }) => id === "migrations")!;
  expect(await migrations()).toMatchObject({ status: "ok", facts: [expect.stringMatching(/^up to \d{4}_/)] });
  await t.db.query("insert into schema_migration (number, name, sha256) values (9999, '9999_later.sql', 'any')");
  expect(await migrations()).toMatchObject({ status: "warn", found: ["9999_later.sql is from a newer build"] });
  await t.db.query("delete from schema_migration where number = 9999");
  const { rows: [first] } = await t.db.query<{ sha256: string }>(
    `update schema_migration set sha256 = 'any' where number = 1
      returning (select sha256 from schema_migration where number = 1)`,
  );
  expect(await migrations()).toMatchObject({ status: "fail", found: [expect.stringContaining("with another text")] });
  await t.db.query("update schema_migration set sha256 = $1 where number = 1", [first!.sha256]);
  expect(await migrations()).toMatchObject({ status: "ok" });
  const other = "update schema_function set sha256 = 'any', release = $1 where name = 'berth_now'";
  await t.db.query(other, [VERSION]);
  expect(await migrations()).toMatchObject({
    status: "fail",
    found: ["function berth_now was applied with another text, as berth_now"],
  });
  await t.db.query(other, ["99.0.0"]);
  expect(await migrations()).toMatchObject({
    status: "warn",
    found: [`functions are from release 99.0.0; this server is release ${VERSION}`],
    mend: "replace this server by the newer build",
  });
  await t.db.query("delete from schema_function where name = 'berth_now'");
  expect(await migrations()).toMatchObject({ status: "fail", found: ["function berth_now was not applied"] });
});

test.each([
  [140_011, "fail"],
  [150_000, "warn"],
  [179_999, "warn"],
  [180_000, "ok"],
])(
  "PostgreSQL with version number %i has the status %s, and the title names the required and the recommended version",
  async (number, status) => {
    const rows = [{ number, name: String(number), standby: false }];
    // The check sends one query and uses nothing else of the client.
    const client = { query: () => Promise.resolve({ rows }) } as unknown as DbClient;
    expect(await databaseVersion(client)).toMatchObject({
      status,
      title: "the database is a primary server of PostgreSQL 15 or later; 18 is recommended, because all tests use it",
    });
  },
);
