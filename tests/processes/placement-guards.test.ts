// A node cannot be removed while an instance is placed on it (docs/nodes.md, "Leaving"). In these tests, the server
// removes nodes. The test process places instances, in a commit call or in a transaction that first takes the lock
// `cn:<id>`.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPlacement, type Placement } from "./placement.ts";
import type { RegistrationView } from "../../src/contract/agent.ts";
import { type Connection, type Db, openClient, openPool } from "../../src/db/pool.ts";
import { logChecks } from "../../src/doctor/log.ts";
import { nodeChecks } from "../../src/doctor/nodes.ts";
import { brokenInvariants } from "../doctor/broken.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { type ServerProcess, startServer } from "../support/server-process.ts";
import { insertInstance } from "../support/instance-row.ts";
import { type Answer, must, request } from "./client.ts";
import { approval, registration } from "./load.ts";
import { steering } from "./steering.ts";

const INSTANCES = "instances are still placed on this node; delete or migrate them first";
const RESERVATION = "a placement reservation is in flight for this node";
const MIGRATION = "a migration involving this node is in flight; wait for it to finish or abort it";
const ROUNDS = 20;
/** A generous limit for slow machines. */
const PATIENCE_MS = 20_000;

let database: FreshDatabase;
let server: ServerProcess;
let db: Db;
let placing: Connection;
let placement: Placement;

beforeAll(async () => {
  database = await freshDatabase();
  server = await startServer({ env: { DATABASE_URL: database.url } });
  db = openPool({ url: database.url, applicationName: "placement" });
  placing = await openClient({ url: database.url, applicationName: "placing" });
  placement = createPlacement(db);
});

afterAll(async () => {
  await placing?.end();
  await db?.close();
  await server?.kill();
  await database?.drop();
});

const settle = (duration_ms: number) => new Promise((wake) => setTimeout(wake, duration_ms));
const remove = (node: string) => request(server.url, { method: "DELETE", path: `/v1/cns/${node}` });
const disable = (node: string) => must(server.url, { method: "POST", path: `/v1/cns/${node}/disable` });

async function approvedNode(): Promise<string> {
  const node = crypto.randomUUID();
  const { path, body } = registration(node);
  const { claim_code } = await must<RegistrationView>(server.url, { method: "POST", path, body, key: "" });
  await must(server.url, { method: "POST", ...approval(claim_code!) });
  return node;
}

async function disabledNode(): Promise<string> {
  const node = await approvedNode();
  await disable(node);
  return node;
}

function expectConflict(answer: Answer, message: string): void {
  expect(answer).toMatchObject({ status: 409, body: { message } });
}

async function isThere(node: string): Promise<boolean> {
  return (await db.query("select from cn where server_uuid = $1", [node])).rowCount === 1;
}

async function placed(node: string): Promise<number> {
  return (await db.query("select from instance where host_cn_uuid = $1", [node])).rowCount;
}

/** Waits until the server waits for a lock that this process holds. */
async function untilServerWaits(): Promise<void> {
  await expect.poll(async () => {
    const waiting = await db.query(
      `select from pg_stat_activity where application_name = 'berth' and datname = current_database()
          and wait_event_type = 'Lock'`,
    );
    return waiting.rowCount;
  }, { interval: 5, timeout: PATIENCE_MS }).toBeGreaterThan(0);
}

/**
 * Places an instance in a transaction and leaves the transaction open. Returns false if the node does not exist any
 * more.
 */
async function placeOpenly(node: string): Promise<boolean> {
  await placing.query("begin");
  await placing.query("set local lock_timeout = '5s'");
  await placing.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`cn:${node}`]);
  const { rowCount } = await placing.query(
    insertInstance({ state: "'pending'", host_cn_uuid: "$1::uuid", from: "from cn where server_uuid = $1" }),
    [node],
  );
  return rowCount === 1;
}

// 700 ms is longer than the server's lock timeout, so the server must retry.
for (const held_ms of [50, 700]) {
  test(`if an instance is placed first and committed ${held_ms} ms later, the waiting removal gets 409`, async () => {
    const node = await disabledNode();
    expect(await placeOpenly(node)).toBe(true);
    const removal = remove(node);
    await untilServerWaits();
    await settle(held_ms);
    await placing.query("commit");
    expectConflict(await removal, INSTANCES);
    expect(await isThere(node)).toBe(true);
  });

  test(`if an instance is placed first and rolled back ${held_ms} ms later, the waiting removal succeeds`, async () => {
    const node = await disabledNode();
    expect(await placeOpenly(node)).toBe(true);
    const removal = remove(node);
    await untilServerWaits();
    await settle(held_ms);
    await placing.query("rollback");
    expect((await removal).status).toBe(204);
    expect(await isThere(node)).toBe(false);
  });
}

test("if the node is removed first, a placement that waits for the removal is rejected", async () => {
  const node = await disabledNode();
  await db.query("insert into placement_reservation values ($1, $1, $1, berth_now() - interval '1 minute')", [node]);
  const holder = await openClient({ url: database.url });
  await holder.query("begin");
  // The removal deletes this row after it has checked its guards. So the removal waits here, with the node's lock.
  await holder.query("select from placement_reservation where server_uuid = $1 for update", [node]);
  const removal = remove(node);
  await untilServerWaits();
  const placed_then = placeOpenly(node);
  await holder.query("rollback");
  await holder.end();
  expect((await removal).status).toBe(204);
  expect(await placed_then).toBe(false);
  await placing.query("commit");
  expect(await placed(node)).toBe(0);
});

test("if the node is removed first, a placement by a commit call is refused, because its guard finds no approved node", async () => {
  const node = await disabledNode();
  expect((await remove(node)).status).toBe(204);
  expect(await placement.place(node)).toBe("refused");
  expect(await placed(node)).toBe(0);
});

test("a disabled node accepts no placement, and an approved node does", async () => {
  const node = await approvedNode();
  expect(await placement.place(node)).toBe("placed");
  await disable(node);
  expect(await placement.place(node)).toBe("refused");
  expectConflict(await remove(node), INSTANCES);
});

test("in 20 races between a placement and a removal of the node, exactly one of the two succeeds", async () => {
  const outcomes = { placed: 0, removed: 0 };
  const race = steering();
  for (let round = 0; round < ROUNDS; round++) {
    const node = await disabledNode();
    const [removal, was_placed] = await Promise.all([
      race.hold("first").then(() => remove(node)),
      race.hold("second").then(() => placeOpenly(node)).finally(() => placing.query("commit")),
    ]);
    expect(await isThere(node)).toBe(was_placed);
    expect(await placed(node)).toBe(was_placed ? 1 : 0);
    if (was_placed) expectConflict(removal, INSTANCES);
    else expect(removal.status).toBe(204);
    outcomes[was_placed ? "placed" : "removed"] += 1;
    race.won(was_placed ? "second" : "first");
  }
  expect(outcomes.placed, "one side always won: there was no race").toBeGreaterThan(0);
  expect(outcomes.removed, "one side always won: there was no race").toBeGreaterThan(0);
}, 120_000);

test(
  "in 20 races between a placement and the disable and removal of the node, exactly one of the two sides succeeds",
  async () => {
    const outcomes = { placed: 0, refused: 0 };
    const race = steering();
    for (let round = 0; round < ROUNDS; round++) {
      const node = await approvedNode();
      const [removal, outcome] = await Promise.all([
        race.hold("first").then(() => disable(node)).then(() => remove(node)),
        race.hold("second").then(() => placement.place(node)),
      ]);
      expect(await isThere(node)).toBe(outcome === "placed");
      expect(await placed(node)).toBe(outcome === "placed" ? 1 : 0);
      if (outcome === "placed") expectConflict(removal, INSTANCES);
      else expect(removal.status).toBe(204);
      outcomes[outcome] += 1;
      race.won(outcome === "placed" ? "second" : "first");
    }
    expect(outcomes.placed, "one side always won: there was no race").toBeGreaterThan(0);
    expect(outcomes.refused, "one side always won: there was no race").toBeGreaterThan(0);
  },
  120_000,
);

test("a valid reservation prevents the removal, and an expired reservation does not", async () => {
  const node = await disabledNode();
  await db.query("insert into placement_reservation values ($1, $1, $1, berth_now() + interval '1 minute')", [node]);
  expectConflict(await remove(node), RESERVATION);
  await db.query("update placement_reservation set expires_at = berth_now() where server_uuid = $1", [node]);
  expect((await remove(node)).status).toBe(204);
  expect((await db.query("select from placement_reservation where server_uuid = $1", [node])).rowCount).toBe(0);
});

for (const end of ["source_cn", "target_cn"] as const) {
  test(`a migration with the node as ${end} prevents the removal until the migration has ended`, async () => {
    const node = await disabledNode();
    const other = crypto.randomUUID();
    const [source, target] = end === "source_cn" ? [node, other] : [other, node];
    const id = crypto.randomUUID();
    await db.query("insert into migration values ($1, 'running', $2, $3, gen_random_uuid())", [id, source, target]);
    expectConflict(await remove(node), MIGRATION);
    await db.query("update migration set state = 'completed' where id = $1", [id]);
    expect((await remove(node)).status).toBe(204);
    expect((await db.query("select from migration where id = $1", [id])).rowCount, "migration records are kept").toBe(
      1,
    );
  });
}

test("a rejected removal has no effect, and its repeat with the same Idempotency-Key gets the same reply", async () => {
  const node = await approvedNode();
  await placement.place(node);
  await disable(node);
  const call = { method: "DELETE", path: `/v1/cns/${node}`, idempotency_key: crypto.randomUUID() };
  expectConflict(await request(server.url, call), INSTANCES);
  await db.query("delete from instance where host_cn_uuid = $1", [node]);
  expectConflict(await request(server.url, call), INSTANCES);
  expect((await remove(node)).status).toBe(204);
  expect((await remove(node)).status).toBe(204);
  // The instances of this file have no NIC, disk or operation, so the doctor's checks of instances would fail.
  expect(await brokenInvariants(db, [...logChecks("all"), ...nodeChecks("all")])).toEqual([]);
});
