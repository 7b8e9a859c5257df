// Checks whether this process can serve requests.
import type { Db } from "../db/pool.ts";

/**
 * Returns a function that returns whether the database answers. The function reports the error if the database does not
 * answer.
 */
export function createReady(db: Pick<Db, "query">, report: (message: string, error: unknown) => void) {
  return async (): Promise<boolean> => {
    try {
      await db.query("select 1");
      return true;
    } catch (error) {
      report("the database does not answer", error);
      return false;
    }
  };
}
