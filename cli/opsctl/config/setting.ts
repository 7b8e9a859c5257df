// What the setting verbs share: paths, the text of a value, and the notes an operator needs beside it.
import type { SettingBody, SettingView } from "../../../src/contract/setting.ts";
import type { Io } from "../../internal/io.ts";
import { plainText } from "../../internal/plain-text.ts";

export const SETTINGS_PATH = "/v1/config";

export function settingPath(key: string): string {
  return `${SETTINGS_PATH}/${encodeURIComponent(key)}`;
}

/** Strings as they are, everything else as JSON: what `config set` takes. */
export function valueText(value: unknown): string {
  return plainText(typeof value === "string" ? value : JSON.stringify(value ?? null));
}

/** JSON when it parses, otherwise a string (document 4, 2.10). */
export function valueOf(text: string): SettingBody["value"] {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function noteEffect(io: Io, setting: SettingView): void {
  if (setting.env_override !== null) {
    io.note(`note: ${setting.env_override} is set on the server and shadows this value`);
  } else if (setting.restart_required) io.note("note: takes effect when the control plane restarts");
}
