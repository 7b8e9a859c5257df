import type { SettingBody } from "../../../src/contract/setting.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { settingFraction } from "../fraction.ts";
import { noteEffect, settingOf, valueOf, valueText } from "./setting.ts";

/** Settings that are a share. They take `50%`, too. */
const SHARES: ReadonlySet<string> = new Set(["reservoir.percent_default"]);

export function set(): AnyCommand {
  return command("set", "Change a setting", "instance.create_wait_secs 120")
    .argument("<setting>", "key of the setting")
    .argument("<value>", "JSON, or a plain string")
    .action(withIo(async (io, key, text) => {
      const body: SettingBody = { value: SHARES.has(key) ? settingFraction(key, text) : valueOf(text) };
      const setting = await settingOf(io, { method: "PUT", body }, key);
      io.print(setting, `Set ${plainText(setting.key)} to ${valueText(setting.value)}`);
      noteEffect(io, setting);
    }));
}
