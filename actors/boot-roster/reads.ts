// Queries for the declared roster.
import type { Kysely } from "kysely";
import type { Roster, RosterEntry } from "../../src/contract/boot.ts";
import type { Database } from "../../src/db/tables.ts";
import { rosterTag } from "../../src/lib/crypto/roster-tag.ts";
import { keptRow } from "../record/reads.ts";
import { BOOT_ROSTER } from "./transition.ts";

/** The declared machines. All MACs are canonical. */
export type Declarations = {
  /** 0 until an operator sets a roster. */
  readonly version: number;
  readonly roster: Roster;
  /** Identifies this roster, as the ETag of its route. */
  readonly tag: string;
  /** The entries by their boot MACs. */
  readonly byBootMac: ReadonlyMap<string, RosterEntry>;
  /**
   * The boot MACs of all members of aggregates. All members of an aggregate are ports of one machine, so they share the
   * boot record of the first member.
   */
  readonly bootMacs: ReadonlyMap<string, string>;
};

const NONE: Declarations = { version: 0, roster: [], tag: rosterTag([]), byBootMac: new Map(), bootMacs: new Map() };

const select = (db: Kysely<Database>) => db.selectFrom("boot_roster").where("id", "=", BOOT_ROSTER.id);
const findRow = keptRow(
  (db) => select(db).select(["version", "updated_at"]).executeTakeFirst(),
  async (db) => {
    const row = await select(db).select(["version", "updated_at", "entries"]).executeTakeFirst();
    return row && { ...declarations(row.entries, row.version), updated_at: row.updated_at };
  },
);

export async function findDeclarations(db: Kysely<Database>): Promise<Declarations> {
  return await findRow(db) ?? NONE;
}

function declarations(roster: Roster, version: number): Declarations {
  const byBootMac = new Map<string, RosterEntry>();
  const bootMacs = new Map<string, string>();
  for (const entry of roster) {
    const boot_mac = bootMacOf(entry);
    byBootMac.set(boot_mac, entry);
    for (const mac of entry.aggregate?.macs ?? []) bootMacs.set(mac, boot_mac);
  }
  return { version, roster, tag: rosterTag(roster), byBootMac, bootMacs };
}

/** Returns the boot MAC of an entry: the first member of the declared aggregate, or else the first MAC of the entry. */
function bootMacOf({ macs, aggregate }: RosterEntry): string {
  return aggregate?.macs[0] ?? macs[0] ?? "";
}
