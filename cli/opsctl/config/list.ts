import type { SettingView } from "../../../src/contract/setting.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import type { Column } from "../../internal/table.ts";
import { SETTINGS_PATH, valueText } from "./setting.ts";

const COLUMNS: readonly Column<SettingView>[] = [
  ["KEY", (setting) => setting.key],
  ["VALUE", (setting) => valueText(setting.value)],
  ["DEFAULT", (setting) => valueText(setting.default)],
  ["RESTART", (setting) => setting.restart_required ? "yes" : "no"],
  ["ENV_OVERRIDE", (setting) => setting.env_override],
];

export function list(): AnyCommand {
  return command("list", "List the cluster settings")
    .action(withIo(async (io) => {
      const settings = await io.get<SettingView[]>(SETTINGS_PATH);
      io.table(settings, settings, COLUMNS, "(no settings)");
    }));
}
