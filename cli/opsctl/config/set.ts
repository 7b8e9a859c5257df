import type { SettingBody } from "../../../src/contract/setting.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { byteSizeOf } from "../../internal/byte-size.ts";
import { Failure, reworded } from "../../internal/failure.ts";
import { withIo } from "../../internal/run.ts";
import { durationMs } from "../../internal/time-text.ts";
import { settingFraction } from "../fraction.ts";
import { effectText, noteEffect, settingOf, valueOf } from "./setting.ts";

/** Settings whose value is a fraction. They also accept a percentage such as `50%`. */
const SHARES: ReadonlySet<string> = new Set(["reservoir.percent_default"]);

/** Matches a key whose value is in seconds. */
const SECONDS = /_secs(?:_|$)/;

/** Matches a key whose value is in bytes. A setting with such a key also accepts a size such as `20GiB`. */
const BYTES = /_bytes(?:_|$)/;

export function set(): AnyCommand {
  return command("set", "Change a setting", "instance.create_wait_secs 120")
    .argument("<setting>", "key of the setting")
    .argument("<value>", "JSON, a plain string, or for bytes a size such as 20GiB")
    .action(withIo(async (io, key, text) => {
      const body: SettingBody = { value: bodyValue(key, text) };
      const setting = await settingOf(io, { method: "PUT", body }, key).catch((error) => {
        throw namingSetting(error, key, text);
      });
      io.print(setting, effectText(setting, "Set", "Stored the"));
      noteEffect(io, setting);
    }));
}

function bodyValue(key: string, text: string): SettingBody["value"] {
  if (SHARES.has(key)) return settingFraction(key, text);
  return (BYTES.test(key) ? byteSizeOf(text) : null) ?? valueOf(text);
}

/** The server's message names the field of the body, but not the value, which may be secret. */
const RULE = /^value: (must .*)$/;

/**
 * Returns the failure. If the server's message is a rule about the value, the failure names the setting and the value.
 * If a setting in seconds or bytes gets a value that is not a number, the failure also names the unit.
 */
function namingSetting(error: unknown, key: string, text: string): unknown {
  const rule = error instanceof Failure ? RULE.exec(error.message)?.[1] : undefined;
  if (!(error instanceof Failure) || rule === undefined) return error;
  const unit = rule.startsWith("must be a number") ? unitRule(key, text) : null;
  return reworded(error, `${key} ${unit ?? rule}, not ${text}`);
}

/**
 * Returns the rule for values of a setting in seconds or in bytes; null for other settings. If the text is a duration,
 * the rule contains its number of seconds.
 */
function unitRule(key: string, text: string): string | null {
  if (BYTES.test(key)) return "takes bytes: a whole number, or a size such as 20GiB";
  if (!SECONDS.test(key)) return null;
  return `takes seconds: a whole number, such as ${(durationMs(text) ?? 300_000) / 1_000}`;
}
