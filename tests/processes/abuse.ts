// What is done to the database while the load runs.
import { openClient } from "../../src/db/pool.ts";

const PAUSE_MS_MAX = 100;
const AT_ONCE = 2;
/** As src/wiring.ts names its connections. */
const SERVER = "berth";

/** Terminates two of the servers' connections at random every 0 to 100 ms. Answers how many. */
export async function terminateBackends(url: string, duration_ms: number): Promise<number> {
  const killer = await openClient({ url, applicationName: "abuse" });
  let terminated = 0;
  try {
    for (const end = Date.now() + duration_ms; Date.now() < end;) {
      const { rowCount } = await killer.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = $1 and datname = current_database() order by random() limit $2`,
        [SERVER, AT_ONCE],
      );
      terminated += rowCount ?? 0;
      await new Promise((wake) => setTimeout(wake, Math.random() * PAUSE_MS_MAX));
    }
  } finally {
    await killer.end();
  }
  return terminated;
}
