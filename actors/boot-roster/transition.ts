// The roster of declared machines, by MAC address (docs/booting.md, "Declared roster").
import type { Roster } from "../../src/contract/boot.ts";
import { type SetValue, value, type ValueState } from "../record/value.ts";

/** The only roster of a site. */
export const BOOT_ROSTER = { kind: "boot-roster", id: "site" } as const;

export type BootRosterMessage = SetValue<{ readonly entries: Roster }>;

export type BootRosterState = ValueState<{ readonly id: string; readonly entries: Roster; readonly updated_at: Date }>;

export const bootRoster = value<BootRosterState, BootRosterMessage>({
  kind: BOOT_ROSTER.kind,
  table: "boot_roster",
  key: "id",
  resource: ({ id }) => `BootRoster::"${id}"`,
  set: {
    action: "boot_roster_set",
    row: ({ entries }, now) => ({ id: BOOT_ROSTER.id, entries, updated_at: now }),
    note: ({ entries }) => ({ machines: entries.length }),
  },
  view: ({ entries }) => entries,
});
