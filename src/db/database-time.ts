// Gives the database's time for new ids. A reply is stored at least until the time in its message id is a day old by
// the database's clock (migrations/functions/seen_maintain.sql). If ids had the time of a server whose clock is days
// behind, replies would be deleted too early. A repeated request could then take effect twice.
import type { DbClient } from "./pool.ts";

export type DatabaseTime = {
  /** Whole milliseconds since 1970. */
  readonly now_ms: () => number;
  /** Reads the database's clock again. If this fails, the time continues from the last reading. */
  readonly measure: () => Promise<void>;
};

/**
 * Reads the database's clock, without the offset of the dev environment. Afterwards the monotonic clock of the process
 * is added, so a jump of the process's wall clock changes nothing.
 */
export async function openDatabaseTime(db: DbClient): Promise<DatabaseTime> {
  let offset_ms = 0;
  async function measure(): Promise<void> {
    const { rows: [row] } = await db.query<{ now: Date }>("select clock_timestamp() as now");
    offset_ms = row!.now.getTime() - performance.now();
  }
  await measure();
  return { now_ms: () => Math.floor(offset_ms + performance.now()), measure };
}
