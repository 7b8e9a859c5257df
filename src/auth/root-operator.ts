// Creates the root operator at the first start. The operator's key comes from the environment, or is generated and
// shown once.
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { KEY_LOOKUP_CHARS, KEY_SECRET_CHARS } from "../contract/limits.ts";
import type { Db } from "../db/pool.ts";
import { formatApiKey, parseApiKey } from "../lib/ids/api-key.ts";
import { sha256Hex } from "./mint.ts";

export type RootKey = { readonly lookup: string; readonly secret_sha256: string };

export type RootOptions = {
  readonly db: Db;
  readonly newId: () => string;
  /** The validated value of BERTH_ROOT_KEY, or null. */
  readonly given: string | null;
  /** Creates the root user with this id, unless another process has created a root user in the meantime. */
  readonly make: (user_id: string, username: string) => Promise<unknown>;
  /** Stores a key with the scope full for this user. */
  readonly store: (user_id: string, key: RootKey) => Promise<unknown>;
  /** Prints a new key on the console, once. */
  readonly show: (key: string) => void;
};

const USERNAME = "root";

/**
 * Creates the root user and its key if they do not exist, and returns the user's id. Processes that start at the same
 * time agree on one user.
 */
export async function ensureRootOperator(options: RootOptions): Promise<string> {
  const { db, newId, make } = options;
  const find = async () =>
    (await db.query<{ id: string }>("select id from user_account where username = $1 and is_root", [USERNAME])).rows[0];
  if (await find() === undefined) await make(newId(), USERNAME);
  const user_id = (await find())?.id;
  if (user_id === undefined) throw new Error(`a user named ${USERNAME} exists but is not a root operator`);
  const { given } = options;
  await oneAtATime(db, given === null ? () => mintOnce(options, user_id) : () => storeGiven(options, user_id, given));
  return user_id;
}

/**
 * Runs `work` under a database lock: if several processes start together, one creates the key and the others find it.
 */
async function oneAtATime(db: Db, work: () => Promise<void>): Promise<void> {
  await db.withClient(async (client) => {
    await client.query("begin");
    await client.query("set local lock_timeout = '4s'");
    await client.query("select pg_advisory_xact_lock(hashtextextended('berth:root_key', 0))");
    await work();
    await client.query("commit");
  });
}

async function storeGiven({ db, store }: RootOptions, user_id: string, given: string): Promise<void> {
  const key = keyOf(given);
  const { rows } = await db.query<{ secret_sha256: string }>("select secret_sha256 from api_key where lookup = $1", [
    key.lookup,
  ]);
  const [known] = rows;
  if (known === undefined) await store(user_id, key);
  else if (known.secret_sha256 !== key.secret_sha256) {
    throw new Error(
      "the 12 characters after opsk_ in BERTH_ROOT_KEY are the same as another key's; set BERTH_ROOT_KEY to a different key",
    );
  }
}

async function mintOnce({ db, store, show }: RootOptions, user_id: string): Promise<void> {
  // If the user has a key of scope full, even an expired one, no key is created: after the first start, no log may
  // contain a new root key. BERTH_ROOT_KEY restores access (docs/guides/rotating-keys.md).
  const { rows } = await db.query("select from api_key where user_id = $1 and scope = 'full'", [user_id]);
  if (rows.length > 0) return;
  const text = Buffer.from(randomBytes((KEY_LOOKUP_CHARS + KEY_SECRET_CHARS) * 3 / 4)).toString("base64url");
  const key = formatApiKey(text.slice(0, KEY_LOOKUP_CHARS), text.slice(KEY_LOOKUP_CHARS));
  await store(user_id, keyOf(key));
  show(key);
}

function keyOf(text: string): RootKey {
  const parts = parseApiKey(text);
  if (parts === null) throw new Error("BERTH_ROOT_KEY is not an API key");
  return { lookup: parts.lookup, secret_sha256: sha256Hex(parts.secret) };
}
