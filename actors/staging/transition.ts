// The platform images that one booter has staged. A report replaces the one before it. Document 4, Fixed here.
import { audit, go } from "../engine/effects.ts";
import { runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out } from "../engine/types.ts";

export type StagingMessage = { readonly type: "stage"; readonly staged_by: string; readonly stamps: readonly string[] };

export type StagingState = {
  readonly state: "set";
  /** The key of the booter's credential. */
  readonly staged_by: string;
  readonly stamps: readonly string[];
  readonly staged_at: Date;
};

export const stagingTable: Table<StagingState, StagingMessage> = { stage: { absent: stage, set: stage } };

function stage(_s: StagingState | null, m: StagingMessage, now: Date): Out<StagingState> {
  const stamps = [...new Set(m.stamps)].sort();
  return go(
    { state: "set", staged_by: m.staged_by, stamps, staged_at: now },
    audit("platform_images_put", `ApiKey::"${m.staged_by}"`, { stamps }),
  );
}

export const staging: Behavior<StagingState, StagingMessage> = {
  kind: "staging",
  table: "staging",
  key: "staged_by",
  step: (s, m, now) => runTable(stagingTable, s, m, now),
  deadline: () => null,
  view: (s) => ({ stamps: s.stamps }),
};
