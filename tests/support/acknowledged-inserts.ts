// Runs inserts to detect whether the database loses an acknowledged insert. Every insert has its own id. After a
// connection error, the insert is repeated until it is acknowledged.
import { type Db, isConnectionError } from "../../src/db/pool.ts";

export type InsertLoad = {
  /** Ids of the acknowledged inserts. */
  readonly acknowledged: readonly string[];
  /** Stops the inserts. Rejects with the first failure that is not a connection error. */
  stop(): Promise<void>;
};

const RETRY_MS = 20;
const WORKERS = 16;

export async function createLoadTable(db: Db): Promise<void> {
  await db.query("create table load (id uuid primary key, worker integer not null)");
}

export function startInserts(db: Db): InsertLoad {
  const acknowledged: string[] = [];
  let running = true;
  async function work(worker: number): Promise<void> {
    while (running) {
      const id = crypto.randomUUID();
      await insertUntilKnown(db, { id, worker });
      acknowledged.push(id);
    }
  }
  const workers = Array.from({ length: WORKERS }, (_, worker) => work(worker));
  const all = Promise.all(workers);
  all.catch(() => running = false); // stop() reports the failure.
  return {
    acknowledged,
    async stop() {
      running = false;
      await all;
    },
  };
}

async function insertUntilKnown(db: Db, { id, worker }: { id: string; worker: number }): Promise<void> {
  for (;;) {
    try {
      await db.query("insert into load values ($1, $2) on conflict (id) do nothing", [id, worker]);
      return;
    } catch (error) {
      if (!isConnectionError(error)) throw error;
      await new Promise((wake) => setTimeout(wake, RETRY_MS));
    }
  }
}

/** Returns the acknowledged ids that are not in the table. */
export async function lostInserts(db: Db, acknowledged: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    "select id from unnest($1::uuid[]) as acknowledged (id) where id not in (select id from load)",
    [acknowledged],
  );
  return rows.map(({ id }) => id);
}
