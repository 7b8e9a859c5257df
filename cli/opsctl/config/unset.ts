import { type AnyCommand } from "../../framework.ts";
import { deleteCommand } from "../../internal/delete-command.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { noteEffect, settingOf, valueText } from "./setting.ts";

export function unset(): AnyCommand {
  return deleteCommand("unset", "Reset a setting to its default", "instance.create_wait_secs")
    .argument("<setting>", "key of the setting")
    .action(withIo(async (io, key) => {
      const setting = await settingOf(io, { method: "DELETE" }, key);
      io.print(setting, `Reset ${plainText(setting.key)} to ${valueText(setting.value)}`);
      noteEffect(io, setting);
    }));
}
