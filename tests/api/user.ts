// Inserts a non-root user into the database. The user has a key and no password. The API cannot create such a user,
// because it requires a password for each new user.
import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { Db } from "../../src/db/pool.ts";
import { formatApiKey } from "../../src/lib/ids/api-key.ts";

export async function addUser(db: Db, username: string): Promise<{ readonly id: string; readonly key: string }> {
  const [id, key_id] = [randomUUID(), randomUUID()];
  const text = randomBytes(33).toString("base64url");
  const [lookup, secret] = [text.slice(0, 12), text.slice(12)];
  const secret_sha256 = createHash("sha256").update(secret).digest("hex");
  await db.query("insert into user_account (id, username) values ($1, $2)", [id, username]);
  await db.query(
    `insert into api_key (id, incarnation, version, state, lookup, secret_sha256, user_id, description, scope, created_at)
     values ($1, $1, 1, 'live', $2, $3, $4, 'test', 'full', berth_now())`,
    [key_id, lookup, secret_sha256, id],
  );
  return { id, key: formatApiKey(lookup, secret) };
}
