// The roster of declared machines, by MAC address (docs/booting.md, "Declared roster").
import type { Roster } from "../../src/contract/boot.ts";
import { fault } from "../../src/contract/fault.ts";
import { rosterTag } from "../../src/lib/crypto/roster-tag.ts";
import { type SetValue, value, type ValueState } from "../record/value.ts";

/** The only roster of a site. */
export const BOOT_ROSTER = { kind: "boot-roster", id: "site" } as const;

export type BootRosterMessage = SetValue<{
  readonly entries: Roster;
  /** The tag in If-Match: the tag of the roster that the message replaces. Null if it replaces any roster. */
  readonly expected: string | null;
}>;

export type BootRosterState = ValueState<{ readonly id: string; readonly entries: Roster; readonly updated_at: Date }>;

/** 412: the roster changed since the caller read it. */
const CHANGED = fault("precondition_failed", "the roster was changed since you read it; read it again");

export const bootRoster = value<BootRosterState, BootRosterMessage>({
  kind: BOOT_ROSTER.kind,
  table: "boot_roster",
  key: "id",
  resource: ({ id }) => `BootRoster::"${id}"`,
  set: {
    action: "boot_roster_set",
    refusal: ({ expected }, before) =>
      expected === null || expected === rosterTag(before?.entries ?? []) ? null : CHANGED,
    row: ({ entries }, now) => ({ id: BOOT_ROSTER.id, entries, updated_at: now }),
    note: ({ entries }) => ({ machines: entries.length }),
  },
  view: ({ entries }) => entries,
});
