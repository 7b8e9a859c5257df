// Deletes old rows in batches, so that no delete holds many locks or exceeds the statement limit.
import { SWEEP_ROWS, SWEEPS_PER_PASS } from "../contract/limits.ts";
import type { DbClient } from "./pool.ts";

export type Sweep = {
  readonly table: string;
  /** The condition of the rows to delete. Without an index that finds these rows, each batch reads the whole table. */
  readonly where: string;
  readonly order: string;
  readonly params: readonly unknown[];
  /** The maximum number of batches of a call. Default: SWEEPS_PER_PASS. */
  readonly batches?: number;
};

/**
 * Deletes the oldest rows that match, in at most `batches` batches. Skips rows that another process has locked. Returns
 * the number of deleted rows; the next pass deletes the rest.
 */
export async function sweepRows(db: DbClient, sweep: Sweep): Promise<number> {
  const { table, where, order, params, batches = SWEEPS_PER_PASS } = sweep;
  const batch = `
    delete from ${table} where ctid = any(array(
      select ctid from ${table} where ${where} order by ${order} limit ${SWEEP_ROWS} for update skip locked))`;
  let deleted = 0;
  for (let n = 0; n < batches; n++) {
    const { rowCount } = await db.query(batch, params);
    deleted += rowCount;
    if (rowCount < SWEEP_ROWS) break;
  }
  return deleted;
}
