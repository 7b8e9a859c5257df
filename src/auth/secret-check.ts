// Checks that all servers of a database have the same secret. The first server stores a value that is derived from its
// secret. A server with another secret derives another value and does not start (docs/guides/rotating-keys.md, "The
// server's secret").
import { Buffer } from "node:buffer";
import type { DbClient } from "../db/pool.ts";
import { derive } from "./seal.ts";

const DERIVED_BYTES = 32;

/** The end of the error text for a server that does not have the secret of the database. */
export const USE_THE_SAME =
  "All control planes of a database need the same secret: copy BERTH_SECRET_KEY from another " +
  "control plane, or from the copy that was kept for its backups. If the secret is lost, stop all control planes and " +
  "run as the owner of the database: delete from secret_check. The values that were encrypted with the lost secret " +
  "stay unreadable.";

/** Throws an Error if this database is used with another secret. Stores the derived value at the first start. */
export async function refuseOtherSecret(db: DbClient, secret: Uint8Array): Promise<void> {
  const derived = derive(secret, { purpose: "secret-check", id: "" }, DERIVED_BYTES);
  await db.query("insert into secret_check (derived) values ($1) on conflict do nothing", [derived]);
  const { rows: [stored] } = await db.query<{ derived: Uint8Array }>("select derived from secret_check");
  if (stored !== undefined && Buffer.compare(stored.derived, derived) === 0) return;
  throw new Error(`this database is used with another secret than BERTH_SECRET_KEY. ${USE_THE_SAME}`);
}
