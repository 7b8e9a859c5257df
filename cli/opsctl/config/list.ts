import type { SettingView } from "../../../src/contract/setting.ts";
import { type AnyCommand, listCommand } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { type Column, fitted, textWidth, WIDE_COLUMN } from "../../internal/table.ts";
import { SETTINGS_PATH, valueText } from "./setting.ts";

const COLUMNS: readonly Column<SettingView>[] = [
  ["KEY", (setting) => setting.key],
  ["VALUE", (setting) => shortText(setting.value)],
  ["DEFAULT", (setting) => shortText(setting.default)],
  ["ENV_OVERRIDE", (setting) => setting.env_override],
  ["DESCRIPTION", (setting) => setting.description, WIDE_COLUMN],
];

/** The widest value in the table, in terminal columns. Longer values end in "…". */
const VALUE_COLUMNS_MAX = 40;

function shortText(value: unknown): string {
  const text = valueText(value);
  return textWidth(text) <= VALUE_COLUMNS_MAX ? text : `${fitted(text, VALUE_COLUMNS_MAX - 1)}…`;
}

export function list(): AnyCommand {
  return listCommand("list", "List the cluster settings; -o wide adds their descriptions")
    .action(withIo(async (io) => {
      const settings = await io.get<SettingView[]>(SETTINGS_PATH);
      io.table(settings, settings, COLUMNS, "(no settings)");
    }));
}
