// A cluster setting that differs from its default. Document 4, section 7. Which keys exist and what values they take
// is src/contract/settings.ts; a value arrives here checked.
import { audit, go } from "../engine/effects.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out } from "../engine/types.ts";

export type SettingMessage =
  | { readonly type: "set"; readonly key: string; readonly value: unknown }
  | { readonly type: "reset"; readonly key: string };

export type SettingState = {
  readonly state: "set";
  readonly key: string;
  readonly value: unknown;
  readonly updated_at: Date;
};

export const settingTable: Table<SettingState, SettingMessage> = {
  set: { absent: set, set },
  reset: { absent: resetAbsent, set: reset },
};

function set(_s: SettingState | null, m: Of<SettingMessage, "set">, now: Date): Out<SettingState> {
  // JSON null is a value of some settings; in the column it is the jsonb null.
  const next: SettingState = { state: "set", key: m.key, value: { is: m.value }, updated_at: now };
  return go(next, audit("config_set", resource(m.key), { key: m.key, value: m.value }));
}

function reset(s: At<SettingState, "set">): Out<SettingState> {
  return go<SettingState>(null, audit("config_reset", resource(s.key), { key: s.key }));
}

function resetAbsent(): Out<SettingState> {
  return { out: "ignore" };
}

function resource(key: string): string {
  return `Setting::"${key}"`;
}

export const setting: Behavior<SettingState, SettingMessage> = {
  kind: "setting",
  table: "setting",
  key: "key",
  step: (s, m, now) => runTable(settingTable, s, m, now),
  deadline: () => null,
  view: (s) => ({ key: s.key }),
};
