// Seals values that release 0.1.0 stored unencrypted. Every process does this before it serves requests; several may do
// it at the same time.
import type { Mint } from "../auth/mint.ts";
import type { Db } from "../db/pool.ts";

/** A row has at most 64 KiB, so a batch of this size finishes within the statement timeout. */
const BATCH_ROWS = 100;

const BATCH = `select instance_id, plain from sealed_user_data where plain is not null
  order by instance_id limit ${BATCH_ROWS} for update skip locked`;
const SEAL = `update sealed_user_data d set plain = null, sealed = v.sealed
  from unnest($1::uuid[], $2::text[]) as v(instance_id, sealed) where d.instance_id = v.instance_id`;

/**
 * Seals the user data of instances that release 0.1.0 created. Each batch is a separate transaction, so that after a
 * crash the next start continues with the remaining rows. Rows that another process has locked are skipped.
 */
export async function sealPlainUserData(db: Db, { sealUserData }: Pick<Mint, "sealUserData">): Promise<void> {
  for (let sealed = BATCH_ROWS; sealed === BATCH_ROWS;) {
    sealed = await db.withClient(async (client) => {
      await client.query("begin");
      const { rows } = await client.query<{ instance_id: string; plain: string }>(BATCH);
      const ids = rows.map(({ instance_id }) => instance_id);
      await client.query(SEAL, [ids, rows.map(({ instance_id, plain }) => sealUserData(instance_id, plain))]);
      await client.query("commit");
      return rows.length;
    });
  }
}
