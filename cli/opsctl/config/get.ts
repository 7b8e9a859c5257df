import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { settingOf, valueText } from "./setting.ts";

export function get(): AnyCommand {
  return command("get", "Print the value of a setting", "instance.create_wait_secs")
    .argument("<setting>", "key of the setting")
    .action(withIo(async (io, key) => {
      const setting = await settingOf(io, { method: "GET" }, key);
      io.print(setting, valueText(setting.value));
    }));
}
