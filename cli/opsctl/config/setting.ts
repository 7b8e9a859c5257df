// Contains the parts that the verbs of settings share: paths, values as text, and a note about an override.
import type { SettingBody, SettingView } from "../../../src/contract/setting.ts";
import type { Request } from "../../internal/api.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure } from "../../internal/failure.ts";
import type { Io } from "../../internal/io.ts";
import { nearNames } from "../../../src/lib/text/near-names.ts";
import { plainText } from "../../internal/plain-text.ts";

export const SETTINGS_PATH = "/v1/config";

export function settingPath(key: string): string {
  return `${SETTINGS_PATH}/${encodeURIComponent(key)}`;
}

/** Sends a request about a setting. If the setting does not exist, the failure names the keys that may be meant. */
export async function settingOf(io: Io, request: Omit<Request, "path">, key: string): Promise<SettingView> {
  try {
    return await io.send<SettingView>({ ...request, path: settingPath(key) });
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.exit_code !== EXIT.not_found) throw cause;
    const near = nearNames((await io.get<SettingView[]>(SETTINGS_PATH)).map((setting) => setting.key), key);
    const hint = near.length === 0 ? "to list them, run: opsctl config list" : `did you mean ${near.join(" or ")}?`;
    throw new Failure(`no setting has the key ${key === "" ? '""' : key}; ${hint}`, EXIT.not_found);
  }
}

/** Returns strings unchanged and other values as JSON, the form that `config set` takes. */
export function valueText(value: unknown): string {
  return plainText(typeof value === "string" ? value : JSON.stringify(value ?? null));
}

/** Returns the parsed JSON, or the text itself if it is not JSON. */
export function valueOf(text: string): SettingBody["value"] {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * Returns the line that reports a change. If an environment variable of the server overrides the setting, the server's
 * answer has the value of the variable. The line then begins with `stored`, and states the value in effect.
 */
export function effectText({ key, value, env_override }: SettingView, changed: string, stored: string): string {
  return env_override === null
    ? `${changed} ${plainText(key)} to ${valueText(value)}`
    : `${stored} value of ${plainText(key)}; the value in effect stays ${valueText(value)}`;
}

export function noteEffect(io: Io, setting: SettingView): void {
  if (setting.env_override !== null) {
    io.note(`note: ${setting.env_override} is set on the server and overrides this value`);
  }
}
