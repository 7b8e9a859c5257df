// Runs the production sagas of instances and their floating IPs on PostgreSQL, with faults between any two of their
// commits: gates that refuse a step, processes that die, connections that break, and processes that pause and continue
// late.
import { type Db, openPool } from "../../src/db/pool.ts";
import { copyOf } from "../support/database.ts";
import { type Dump, dumpTables } from "../support/dump.ts";
import { type InstanceFixture, makeBareFixture } from "./bare-fixture.ts";
import { CONTRADICTIONS, differences, RECORDS } from "./instance-comparison.ts";
import { openMadeInstances } from "./made-instances.ts";
import { openSagaRuns } from "./saga-runs.ts";

export type InstanceSagas = Awaited<ReturnType<typeof openInstanceSagas>>;

/**
 * Creates a database with a tenancy, a network, images, nodes, and the instances and floating IPs that this many cases
 * need. Tests copy the database for each group of cases, because the remains of cases slow down later cases.
 */
export async function makeFixture(cases: number): Promise<InstanceFixture> {
  const bare = await makeBareFixture();
  const p = await openInstanceSagas({ ...bare, shared: undefined, running: [], stopped: [], bound: [] });
  const shared = await p.bindable();
  const running: string[] = [];
  const stopped: string[] = [];
  const bound: string[] = [];
  for (let made = 0; made < cases; made++) {
    running.push(await p.running());
    stopped.push(await p.stopped());
    bound.push(await p.floatingIp(shared[0]));
  }
  await p.leave();
  await bare.database.drop();
  return { ...bare, database: p.database, shared, running, stopped, bound };
}

/** Opens a copy of the fixture. */
export async function openInstanceSagas(fixture: InstanceFixture) {
  const { silo_id, image, other_image, node, other, silent } = fixture;
  const database = await copyOf(fixture.database);
  const db: Db = openPool({ url: database.url, connectionsMax: 3 });
  const app: Db = openPool({ url: database.url, role: "berth_app" });
  const runs = openSagaRuns({ db, app });
  const made = openMadeInstances(db, fixture, runs);

  async function instanceOf(id: string) {
    const { rows } = await db.query("select state, reason, operation_id, job_begun from instance where id = $1", [id]);
    return rows[0];
  }

  /** Returns the nodes of an instance and of its migration, and how the migration ended. */
  async function migrationOf(id: string) {
    const { rows } = await db.query(
      "select i.host_cn_uuid, m.source_cn, m.target_cn, m.state from instance i join migration m on m.instance_id = i.id " +
        "where i.id = $1",
      [id],
    );
    return rows;
  }

  /** Returns where a floating IP is attached, and its operation. */
  async function floatingIpOf(id: string) {
    const { rows } = await db.query(
      "select attached_to, attached_instance_id, hosted_cn, operation_id, prior_nic_id from floating_ip where id = $1",
      [id],
    );
    return rows[0];
  }

  /** Lists wrong counters and references to ended operations. The list must be empty when no operation is in flight. */
  async function contradictions(): Promise<readonly unknown[]> {
    const { rows } = await db.query(CONTRADICTIONS);
    return rows;
  }

  async function leave(): Promise<void> {
    await app.close();
    await db.close();
  }

  return {
    ...runs,
    ...made,
    db,
    node,
    other,
    silent,
    silo_id,
    image: image.id as string,
    other_image: other_image.id as string,
    instanceOf,
    migrationOf,
    floatingIpOf,
    contradictions,
    close: (name: string) => db.query("insert into saga_gate values ($1) on conflict do nothing", [name]),
    open: () => db.query("delete from saga_gate"),
    advance: (ms: number) =>
      db.query("update lab_clock set ahead = ahead + $1 * interval '1 millisecond'", [ms]).then(() => {}),
    dump: () => dumpTables(db, RECORDS),
    left: async (before: Dump) => differences(before, await dumpTables(db, RECORDS)),
    database,
    leave,
    end: async () => {
      await leave();
      await database.drop();
    },
  };
}
