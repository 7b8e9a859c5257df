// The declared roster: what the answers file says about machines, by MAC. Document 4, Fixed here.
import type { Roster } from "../../src/contract/boot.ts";
import { audit, go } from "../engine/effects.ts";
import { runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out } from "../engine/types.ts";

/** The one roster of a cell. */
export const BOOT_ROSTER = { kind: "boot-roster", id: "site" } as const;

export type BootRosterMessage = { readonly type: "put"; readonly entries: Roster };

export type BootRosterState = {
  readonly state: "set";
  readonly id: string;
  readonly entries: Roster;
  readonly updated_at: Date;
};

export const bootRosterTable: Table<BootRosterState, BootRosterMessage> = { put: { absent: put, set: put } };

function put(_s: BootRosterState | null, m: BootRosterMessage, now: Date): Out<BootRosterState> {
  return go(
    { id: BOOT_ROSTER.id, state: "set", entries: m.entries, updated_at: now },
    audit("boot_roster_set", 'BootRoster::"site"', { machines: m.entries.length }),
  );
}

export const bootRoster: Behavior<BootRosterState, BootRosterMessage> = {
  kind: BOOT_ROSTER.kind,
  table: "boot_roster",
  key: "id",
  step: (s, m, now) => runTable(bootRosterTable, s, m, now),
  deadline: () => null,
  view: (s) => s.entries,
};
