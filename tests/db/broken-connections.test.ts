// Tests connections that break under load. The driver is `pg` because it passes this test. Any replacement of the
// driver must pass the test, too.
import { expect, test } from "vitest";
import { openClient, openPool } from "../../src/db/pool.ts";
import { createLoadTable, lostInserts, startInserts } from "../support/acknowledged-inserts.ts";
import { freshDatabase } from "../support/database.ts";

/**
 * The minimum number of rounds. The rounds continue until the test has cut enough connections and enough inserts are
 * acknowledged, which takes more rounds on a slow machine.
 */
const ROUNDS_MIN = 40;
const TERMINATED_MIN = 20;
const ACKNOWLEDGED_MIN = 500;

test("when backends are terminated at random, no acknowledged insert is lost, and no client hangs or crashes", async () => {
  const database = await freshDatabase();
  const db = openPool({ url: database.url, applicationName: "victim" });
  const killer = await openClient({ url: database.url });
  try {
    await createLoadTable(db);
    const load = startInserts(db);
    let terminated = 0;
    const enough = () => terminated > TERMINATED_MIN && load.acknowledged.length > ACKNOWLEDGED_MIN;
    for (let round = 0; round < ROUNDS_MIN || !enough(); round++) {
      const { rowCount } = await killer.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where application_name = 'victim' and datname = current_database() order by random() limit 2`,
      );
      terminated += rowCount ?? 0;
      await new Promise((wake) => setTimeout(wake, Math.random() * 100));
    }
    await load.stop();
    expect(await lostInserts(db, load.acknowledged)).toEqual([]);
    expect(db.stats().waiting).toBe(0);
  } finally {
    await killer.end();
    await db.close();
    await database.drop();
  }
});
