// A cluster setting that differs from its default. src/contract/settings.ts lists the keys and their values; the route
// checks a value before it sends the message.
import { type SetValue, type UnsetValue, value, type ValueState } from "../record/value.ts";

export type SettingMessage = SetValue<{ readonly key: string; readonly value: unknown }> | UnsetValue;

export type SettingState = ValueState<{
  readonly key: string;
  /**
   * The value is inside an object, because JSON null is a valid value of some settings and must differ from a null
   * column.
   */
  readonly value: { readonly is: unknown };
  readonly updated_at: Date;
}>;

export const setting = value<SettingState, SettingMessage>({
  kind: "setting",
  table: "setting",
  key: "key",
  resource: ({ key }) => `Setting::"${key}"`,
  set: {
    action: "config_set",
    row: ({ key, value }, now) => ({ key, value: { is: value }, updated_at: now }),
    note: ({ key, value }) => ({ key, value: value.is }),
  },
  unset: { action: "config_reset", absent: "ignore", note: ({ key }) => ({ key }) },
  view: ({ key }) => ({ key }),
});
