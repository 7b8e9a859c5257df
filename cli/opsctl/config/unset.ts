import { type AnyCommand } from "../../framework.ts";
import { deleteCommand } from "../../internal/delete-command.ts";
import { withIo } from "../../internal/run.ts";
import { effectText, noteEffect, settingOf } from "./setting.ts";

export function unset(): AnyCommand {
  return deleteCommand("unset", "Reset a setting to its default", "instance.create_wait_secs")
    .argument("<setting>", "key of the setting")
    .action(withIo(async (io, key) => {
      const setting = await settingOf(io, { method: "DELETE" }, key);
      io.print(setting, effectText(setting, "Reset", "Reset the stored"));
      noteEffect(io, setting);
    }));
}
