// Causes faults of the database while a test sends load.
import { openClient } from "../../src/db/pool.ts";

const PAUSE_MS_MAX = 100;
const AT_ONCE = 2;
/** The application_name of the server's connections. */
const SERVER = "berth";

/** Terminates two random connections of the servers every 0 to 100 ms. Returns the number of terminations. */
export function terminateBackends(url: string, duration_ms: number): Promise<number> {
  const end = Date.now() + duration_ms;
  return terminate({ url, goesOn: () => Date.now() < end, pause_ms_max: PAUSE_MS_MAX });
}

export type Terminations = {
  readonly url: string;
  readonly goesOn: (terminated: number) => boolean;
  /** Upper limit of the random pause between terminations, in milliseconds. */
  readonly pause_ms_max: number;
};

/** Terminates two connections of the servers at a time while `goesOn` is true. Returns the number of terminations. */
export async function terminate({ url, goesOn, pause_ms_max }: Terminations): Promise<number> {
  const killer = await openClient({ url, applicationName: "abuse" });
  let terminated = 0;
  try {
    while (goesOn(terminated)) {
      const { rowCount } = await killer.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = $1 and datname = current_database() order by random() limit $2`,
        [SERVER, AT_ONCE],
      );
      terminated += rowCount ?? 0;
      await new Promise((wake) => setTimeout(wake, Math.random() * pause_ms_max));
    }
  } finally {
    await killer.end();
  }
  return terminated;
}
