// The platform images that one booter has staged. A report replaces the report before it (docs/booting.md).
import type { PlatformKind } from "../../src/contract/enums.ts";
import { type SetValue, value, type ValueState } from "../record/value.ts";

/** `staged_by` is the id of the booter's API key. `kinds` has the kind of each stamp that is not a SmartOS platform. */
type Columns = {
  readonly staged_by: string;
  readonly stamps: readonly string[];
  readonly kinds: Readonly<Record<string, PlatformKind>>;
};

export type StagingMessage = SetValue<Columns>;

export type StagingState = ValueState<Columns & { readonly staged_at: Date }>;

export const staging = value<StagingState, StagingMessage>({
  kind: "staging",
  table: "staging",
  key: "staged_by",
  resource: ({ staged_by }) => `ApiKey::"${staged_by}"`,
  set: {
    action: "platform_images_put",
    row: ({ staged_by, stamps, kinds }, now) => (
      { staged_by, stamps: [...new Set(stamps)].sort(), kinds, staged_at: now }
    ),
    note: ({ stamps, kinds }) => ({ stamps, kinds }),
  },
  view: ({ stamps, kinds }) => ({ stamps, kinds }),
});
