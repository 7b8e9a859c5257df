// Deletes API keys that expired long ago. Each delete is a message to the key. Like a delete by a caller, it has an
// audit event and ends the sessions of the key.
import type { Engine } from "../../actors/engine/engine.ts";
import { listExpiredKeys } from "../../actors/api-key/reads.ts";
import { EXPIRED_KEYS_AT_ONCE, EXPIRED_KEYS_PER_PASS } from "../contract/limits.ts";
import type { Db } from "../db/pool.ts";
import type { Settings } from "../services/settings.ts";

/**
 * Deletes at most EXPIRED_KEYS_PER_PASS keys that expired at least api_key.retention_secs (a setting) ago. Keeps the
 * keys of nodes.
 */
export async function deleteExpiredKeys(
  db: Db,
  settings: Pick<Settings, "get">,
  engine: Pick<Engine, "send">,
): Promise<void> {
  const kept_s = Number((await settings.get("api_key.retention_secs")).value);
  const ids = await listExpiredKeys(db.kysely, kept_s, EXPIRED_KEYS_PER_PASS);
  for (let at = 0; at < ids.length; at += EXPIRED_KEYS_AT_ONCE) {
    const some = ids.slice(at, at + EXPIRED_KEYS_AT_ONCE);
    await Promise.all(some.map((id) => engine.send({ kind: "api-key", id }, { type: "expire", kept_s })));
  }
}
