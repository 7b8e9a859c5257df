// Writes the values of a setup run as lines of key, tab and value, which the script reads as data. A value with a tab
// or a line break is refused. All values except URLs and root's SSH keys must match a stricter pattern.
import type { SetupBundle } from "../../src/contract/setup.ts";
import { isHostname } from "../../src/lib/net/hostname.ts";
import { isSha512Crypt } from "../../src/lib/crypto/sha512-crypt.ts";
import type { SetupConfig } from "../config.ts";

export type ValueParts = {
  readonly bundle: SetupBundle;
  readonly setup: SetupConfig;
  readonly console: string;
  /** http://ADDRESS:PORT of this booter, as the machine reaches it. */
  readonly origin: string;
};

class ValueFault extends Error {}

const WORD = /^[A-Za-z0-9._:/+-]{1,1024}$/;
const KEY = /^[A-Za-z0-9_-]{1,256}$/;
const DISK = /^[A-Za-z0-9._:-]{1,128}$/;
const LINE = /^[^\t\r\n\0]{1,8192}$/;

export function setupValues({ bundle, setup, console, origin }: ValueParts): string {
  const { layout } = bundle;
  const mirrored = setup.upstream_channel_url !== undefined;
  const lines: [string, string | null, (text: string) => boolean][] = [
    ["server_uuid", bundle.server_uuid, (text) => /^[0-9a-f-]{36}$/.test(text)],
    ["hostname", bundle.hostname, isHostname],
    ["api_key", bundle.api_key, (text) => KEY.test(text)],
    ["console_ticket_key_hex", bundle.console_ticket_key_hex, (text) => KEY.test(text)],
    ["imds_token_key_hex", bundle.imds_token_key_hex, (text) => KEY.test(text)],
    ["migrate_ticket_key_hex", bundle.migrate_ticket_key_hex, (text) => KEY.test(text)],
    ["root_shadow", bundle.root_password_hash, isSha512Crypt],
    ["layout", layout.disk_layout, (text) => KEY.test(text)],
    ["width", numberText(layout.disk_width), (text) => /^[0-9]{1,6}$/.test(text)],
    ["spares", numberText(layout.disk_spares), (text) => /^[0-9]{1,6}$/.test(text)],
    ["exclude", layout.disk_exclude.length === 0 ? null : layout.disk_exclude.join(","), disksOnly],
    ["cache", String(layout.disk_cache), (text) => text === "true" || text === "false"],
    ["compress", layout.disk_compress, (text) => KEY.test(text)],
    ["platform_stamp", setup.platform_stamp, (text) => WORD.test(text)],
    ["platform_image_sha256", setup.platform_image_sha256 ?? null, (text) => WORD.test(text)],
    ["boot_image_stamp", setup.boot_image_stamp ?? null, (text) => WORD.test(text)],
    ["boot_image_sha256", setup.boot_image_sha256 ?? null, (text) => WORD.test(text)],
    ["ntp_server", setup.ntp_server ?? null, (text) => WORD.test(text)],
    ["install_sh_url", mirrored ? `${origin}/install.sh` : setup.install_sh_url, (text) => LINE.test(text)],
    // Without a mirror, channel.json is in the same folder as install.sh.
    [
      "channel_url",
      mirrored ? `${origin}/channel.json` : new URL("channel.json", setup.install_sh_url).href,
      (text) => LINE.test(text),
    ],
    ["agent_endpoint", setup.agent_endpoint, (text) => LINE.test(text)],
    ["console", console, (text) => KEY.test(text)],
    ...bundle.root_authorized_keys.map((key) =>
      ["root_authorized_key", key, (text: string) => LINE.test(text)] as [string, string, (text: string) => boolean]
    ),
  ];
  return lines.map(([name, value, isValid]) => {
    if (value === null) return "";
    // The error does not contain the value, because it may be a secret.
    if (typeof value !== "string" || !isValid(value)) throw new ValueFault(`the setup value ${name} is invalid`);
    return `${name}\t${value}\n`;
  }).join("");
}

function numberText(value: number | null): string | null {
  return value === null ? null : String(value);
}

function disksOnly(list: string): boolean {
  return list.split(",").every((name) => DISK.test(name));
}
