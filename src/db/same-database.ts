// Checks that all variables with a database address name the same database. Without this check, a server that is
// started on a copy of the database, with a new DATABASE_URL only, would migrate the original.
import { randomInt } from "node:crypto";
import { type Connection, type ConnectOptions, openClient } from "./pool.ts";

export type DatabaseUrls = {
  readonly databaseUrl: string;
  readonly ownerUrl: string | null;
  readonly directUrl: string | null;
};

const KEY_MAX = 2 ** 31;

/**
 * Throws an Error that names the variable if the owner's URL or the direct URL names another database than databaseUrl.
 * If a connection fails, the property `variable` of the Error names the variable with the connection's URL.
 */
export async function refuseOtherDatabase({ databaseUrl, ownerUrl, directUrl }: DatabaseUrls): Promise<void> {
  const others = { BERTH_OWNER_DATABASE_URL: ownerUrl, BERTH_DIRECT_DATABASE_URL: directUrl };
  for (const [variable, url] of Object.entries(others)) {
    if (url === null || url === databaseUrl) continue;
    const served = { url: databaseUrl, sharesSessions: directUrl !== null };
    const isSame = await withClient(
      variable,
      { url },
      (one) => withClient("DATABASE_URL", served, (other) => seesLock(one, other)),
    );
    if (!isSame) {
      throw new Error(`${variable} names another database than DATABASE_URL. Change both, or unset ${variable}.`);
    }
  }
}

/**
 * Returns whether both connections use the same database: whether a lock of one connection is visible to the other. A
 * comparison of names, addresses or identifiers would not show this: a server has several addresses, and a restored
 * copy has the identifiers of the original.
 */
async function seesLock(one: Connection, other: Connection): Promise<boolean> {
  const key = [randomInt(KEY_MAX), randomInt(KEY_MAX)];
  await one.query("select pg_advisory_lock($1::int, $2::int)", key);
  const { rowCount } = await other.query(
    `select from pg_locks where locktype = 'advisory' and objsubid = 2 and classid = $1::int::oid
        and objid = $2::int::oid and database = (select oid from pg_database where datname = current_database())`,
    key,
  );
  return rowCount === 1;
}

async function withClient<T>(
  variable: string,
  options: ConnectOptions,
  use: (client: Connection) => Promise<T>,
): Promise<T> {
  const client = await openClient({ applicationName: "berth-migrate", ...options }).catch((error) => {
    throw Object.assign(error, { variable });
  });
  try {
    return await use(client);
  } finally {
    await client.end(); // Ends the session. This releases the lock.
  }
}
