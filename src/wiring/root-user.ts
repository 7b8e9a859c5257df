// Creates the root operator and its key at the first start.
import type { Engine } from "../../actors/engine/engine.ts";
import { ensureRootOperator } from "../auth/root-operator.ts";
import type { Config } from "../config.ts";
import type { Db } from "../db/pool.ts";

/** The ports of ensureRootUser. `show` prints a line that is not a log line. */
type RootPorts = {
  readonly db: Db;
  readonly engine: Engine;
  readonly newId: () => string;
  readonly config: Config;
  readonly show: (line: string) => void;
};

/** Returns the id of the root operator. Without `BERTH_ROOT_KEY`, the first start creates a key and shows it once. */
export async function ensureRootUser({ db, engine, newId, config, show }: RootPorts): Promise<string> {
  return await ensureRootOperator({
    db,
    newId,
    given: config.rootKey,
    make: (id, username) => engine.send({ kind: "user", id }, { type: "create_root", id, username }),
    store: async (user_id, key) => {
      const id = newId();
      const outcome = await engine.send({ kind: "api-key", id }, {
        type: "create",
        id,
        ...key,
        user_id,
        description: "root operator",
        scope: "full",
        bound_to_cn: null,
        expires_at: null,
      });
      if (!outcome.ok) throw new Error(`the root key was refused: ${outcome.fault.message}`);
    },
    show: (key) => show(`Root operator key (shown once, keep it): ${key}`),
  });
}
