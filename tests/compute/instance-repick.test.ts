// To create an instance, the server first picks some candidate nodes. If other new instances fill these nodes before
// the commit, the server picks again. So a caller rarely gets 503 while a node has room. Every commit that creates an
// instance takes the lock of the project. The tests delay commits by holding this lock.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { OperationSummary } from "../../src/contract/operation.ts";
import { CPU_UNITS_PER_VCPU, PLACEMENT_CANDIDATES_MAX } from "../../src/contract/limits.ts";
import { type Connection, openClient } from "../../src/db/pool.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { addNode, type ComputeFixture, type Node, openComputeFixture } from "./compute-fixture.ts";

const ONE_SLOT = { ram_total_mb: 4_096 };
const NO_NODE =
  "no eligible compute node for placement; capacity, traits, affinity, or scope pinning rejected every candidate";
/** A long time limit, for slow machines. */
const PATIENCE_MS = 20_000;

let a: ComputeFixture;
let second: TestControlPlane;
let holder: Connection;
const nodes: Node[] = [];

beforeAll(async () => {
  a = await openComputeFixture();
  second = await openTestControlPlane({ databaseUrl: a.t.databaseUrl });
  holder = await openClient({ url: a.t.databaseUrl, applicationName: "holder" });
  await a.node.alive(ONE_SLOT);
  nodes.push(a.node);
  while (nodes.length < PLACEMENT_CANDIDATES_MAX + 4) nodes.push(await addNode(a.t, ONE_SLOT));
});
afterAll(async () => {
  await holder?.end();
  await second?.close();
  await a?.t.close();
});
beforeEach(async () => {
  await a.t.db.query("update cn_usage set cpu_units = 0, ram_mb = 0, disk_bytes = 0, instances = 0");
});

/** Blocks commits in the project while `work` runs. */
async function held(work: () => Promise<void>): Promise<void> {
  await holder.query("begin");
  await holder.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`project:${a.tenant.project_id}`]);
  try {
    await work();
  } finally {
    await holder.query("commit");
  }
}

/** Waits until the lock blocks a commit. By then the server has read the inputs of the placement. */
async function untilCommitWaits(): Promise<void> {
  await expect.poll(async () => {
    const { rowCount } = await a.t.db.query(
      `select from pg_stat_activity where application_name = 'berth' and datname = current_database()
          and wait_event_type = 'Lock'`,
    );
    return rowCount;
  }, { interval: 5, timeout: PATIENCE_MS }).toBeGreaterThan(0);
}

/** Fills all nodes except the nodes in `free`. */
async function fillBut(free: readonly Node[]): Promise<void> {
  await a.t.db.query(
    `insert into cn_usage (server_uuid, ram_mb, instances)
       select server_uuid, 4096, 1 from cn where server_uuid <> all($1::uuid[])
     on conflict (server_uuid) do update set ram_mb = 4096, instances = 1`,
    [free.map(({ server_uuid }) => server_uuid)],
  );
}

const create = (fields: object = {}, headers: Record<string, string> = {}) =>
  a.create(fields, { headers: { prefer: "respond-async", ...headers } });
const hostOf = ({ references }: OperationSummary) => references.find(({ scope }) => scope === "cn")?.id;

test("a create request whose candidates all filled up uses another node", async () => {
  // The disk of this node has the least free space, so placement ranks the node last.
  const last = nodes.at(-1)!;
  const zpools = [{ name: "zones", total_bytes: 4_000_000_000_000, free_bytes: 10_000_000_000, tier: "nvme" }];
  await last.alive({ zpools });
  const [fields, key] = [{ name: randomUUID() }, { "idempotency-key": randomUUID() }];
  let asked: ReturnType<typeof create> | undefined;
  await held(async () => {
    asked = create(fields, key);
    await untilCommitWaits();
    await fillBut([last]);
  });
  const made = okOf(await asked!);
  expect(hostOf(made)).toBe(last.server_uuid);
  const { rows } = await a.t.db.query("select ram_mb, instances, cpu_units from cn_usage where server_uuid = $1", [
    last.server_uuid,
  ]);
  expect(rows).toEqual([{ ram_mb: 4_096, instances: 1, cpu_units: 2 * CPU_UNITS_PER_VCPU }]);
  expect(okOf(await create(fields, key))).toMatchObject({ id: made.id });
  const job = await last.does("provision");
  // Waits for the operation, because the next test compares the rows of the database.
  await a.ended(String(job.kind["instance_id"]), "instance-create");
  await last.alive();
  const busy = "select from instance where operation_id is not null";
  await expect.poll(async () => (await a.t.db.query(busy)).rowCount, { timeout: PATIENCE_MS }).toBe(0);
});

test("a create request gets 503 and writes nothing if its second pick finds no node", async () => {
  let asked: ReturnType<typeof create> | undefined;
  const before = await a.dump();
  await held(async () => {
    asked = create();
    await untilCommitWaits();
    await fillBut([]);
  });
  const answer = await asked!;
  expect(answer).toMatchObject({ status: 503, body: { message: NO_NODE } });
  expect(answer.body).not.toHaveProperty("error_code");
  expect((await a.left(before)).filter((each) => !/^. cn_usage:/.test(each))).toEqual([]);
});

test("a node whose role changes before the commit gets no instance", async () => {
  const node = nodes[0]!;
  const role = (to: string) => a.t.call("POST", `/v1/cns/${node.server_uuid}/role`, { body: { role: to } });
  await fillBut([node]);
  let asked: ReturnType<typeof create> | undefined;
  await held(async () => {
    asked = create();
    await untilCommitWaits();
    okOf(await role("edge"));
  });
  expect(await asked!).toMatchObject({ status: 503, body: { message: NO_NODE } });
  const { rowCount } = await a.t.db.query("select from instance where host_cn_uuid = $1", [node.server_uuid]);
  expect(rowCount).toBe(0);
  okOf(await role("both"));
});

test("of 40 concurrent create requests through two processes on 12 nodes with 24 slots, 24 succeed and 16 get 503", async () => {
  for (const node of nodes) await node.alive({ ram_total_mb: 2 * 4_096 });
  const planes = [a.t, second];
  const working = nodes.map(async (node) => {
    for (let done = 0; done < 2; done += 1) await node.does("provision");
  });
  const answers = await Promise.all(
    Array.from(
      { length: 40 },
      (_, n) => planes[n % 2]!.call("POST", `/v1/instances${a.selectors}`, { key: a.tenant.key, body: a.bodyOf() }),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(24).fill(201), ...Array(16).fill(503)]);
  expect(new Set(answers.filter(({ status }) => status === 503).map(({ body }) => body.message))).toEqual(
    new Set([NO_NODE]),
  );
  await Promise.all(working);
  const { rows } = await a.t.db.query("select ram_mb, instances from cn_usage order by server_uuid");
  expect(rows).toEqual(nodes.map(() => ({ ram_mb: 2 * 4_096, instances: 2 })));
});
