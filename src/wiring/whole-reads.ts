// Reads whole tables that many requests need. Requests that arrive together share one query (src/db/lookup.ts).
import { type StoredSettings, storedSettings } from "../../actors/setting/reads.ts";
import { createLookup } from "../db/lookup.ts";
import type { Db } from "../db/pool.ts";
import { type NodesToPlace, nodesToPlace } from "../services/placement-snapshot.ts";

/** The only key of a look-up that reads the whole table. */
const ALL = "all";

export function createWholeReads(db: Db) {
  const settings = createLookup<StoredSettings>(async () => new Map([[ALL, await storedSettings(db.byKey.kysely)]]));
  const nodes = createLookup<NodesToPlace>(async () => new Map([[ALL, await nodesToPlace(db.kysely)]]));
  return {
    storedSettings: async (): Promise<StoredSettings> => await settings(ALL) ?? new Map(),
    nodesToPlace: async (): Promise<NodesToPlace> => await nodes(ALL) ?? [],
  };
}
