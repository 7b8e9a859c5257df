// Tests the counter of unproven nodes, which registered and were never approved. Concurrent transactions must not make
// the counter wrong. A transaction that counts down to zero deletes the counter's row. So other transactions can create
// and delete the row while one transaction creates it.
import { afterAll, beforeAll, expect, test } from "vitest";
import { UNPROVEN_NODES_MAX } from "../../src/contract/limits.ts";
import { type Connection, openClient } from "../../src/db/pool.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";

const MAX = { max: UNPROVEN_NODES_MAX };
const NODES = 2;
let database: FreshDatabase;
let clients: Connection[];

beforeAll(async () => {
  database = await freshDatabase();
  clients = await Promise.all(Array.from({ length: 4 }, () => openClient({ url: database.url })));
});

afterAll(async () => {
  await Promise.all(clients.map((client) => client.end()));
  await database.drop();
});

async function waits(client: Connection, process_id: number): Promise<void> {
  const sql = "select wait_event_type from pg_stat_activity where pid = $1";
  await expect.poll(async () => (await client.query(sql, [process_id])).rows[0].wait_event_type).toBe("Lock");
}

async function remaining(client: Connection): Promise<unknown> {
  return (await client.query("select remaining from budget where name = 'unproven-nodes'")).rows[0]?.remaining;
}

test("a new counter does not count nodes that other transactions added and approved during its creation", async () => {
  const [registering, adding, approving, watching] = clients as [Connection, Connection, Connection, Connection];
  const process_id = (await registering.query("select pg_backend_pid() as id")).rows[0].id;
  // The table lock stops the registration before it counts the nodes.
  await adding.query("begin; lock table cn in access exclusive mode");
  const registration = registering.query("select guard_unproven_are_counted($1)", [MAX]);
  await waits(watching, process_id);
  await watching.query("insert into budget (name, remaining) values ('unproven-nodes', $1)", [MAX.max - NODES]);
  await approving.query("begin; select from budget where name = 'unproven-nodes' for update");
  await adding.query(
    `insert into cn (server_uuid, incarnation, version, state, hostname, role, sysinfo, registered_at, unproven)
     select gen_random_uuid(), gen_random_uuid(), 1, 'pending', 'n' || n, 'tenant', '{}', berth_now(), true
       from generate_series(1, $1::int) n`,
    [NODES],
  );
  await adding.query("commit");
  // The registration has counted the nodes, and waits for the row that the approvals delete.
  await waits(watching, process_id);
  await approving.query("update cn set unproven = false");
  for (let node = 0; node < NODES; node += 1) await approving.query("select effect_unproven_ended($1)", [MAX]);
  expect(await remaining(approving)).toBe(undefined);
  await approving.query("commit");
  await registration;
  expect(await remaining(watching)).toBe(MAX.max);
});
