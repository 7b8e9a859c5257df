// Shared by the setting verbs: paths, values as text, and notes about when a change applies.
import type { SettingBody, SettingView } from "../../../src/contract/setting.ts";
import type { Io } from "../../internal/io.ts";
import { plainText } from "../../internal/plain-text.ts";

export const SETTINGS_PATH = "/v1/config";

export function settingPath(key: string): string {
  return `${SETTINGS_PATH}/${encodeURIComponent(key)}`;
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

export function noteEffect(io: Io, setting: SettingView): void {
  if (setting.env_override !== null) {
    io.note(`note: ${setting.env_override} is set on the server and overrides this value`);
  } else if (setting.restart_required) io.note("note: takes effect when the control plane restarts");
}
