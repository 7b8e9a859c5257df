// Writes root's keys from the control plane into a separate file, so that the keys that an administrator wrote stay.
// sshd reads both files by default.
import { join } from "node:path";
import { readPlainFile, writeFileDurably } from "../../cli/internal/private-file.ts";

/** sshd's second default file of authorized keys. */
export const ROOT_KEYS_FILE = ".ssh/authorized_keys2";

/**
 * The setup of a machine writes this file. At each boot, a Linux node image copies it to ROOT_KEYS_FILE before the
 * agent starts (cli/release/node-image/storage.sh).
 */
export const BOOT_KEYS_FILE = "/zones/config/authorized_keys";

/** Replaces the keys. If the node has BOOT_KEYS_FILE, also replaces the keys for the next boot. */
export async function writeRootKeys(keys: readonly string[], home: string, boot_file = BOOT_KEYS_FILE): Promise<void> {
  const note = "# Written by nodeagent from the setting cn.root_authorized_keys. Changes are lost.";
  const text = `${[note, ...keys].join("\n")}\n`;
  await writeFileDurably(join(home, ROOT_KEYS_FILE), text);
  const at_boot = await readPlainFile(boot_file);
  if (at_boot !== null && at_boot !== text) await writeFileDurably(boot_file, text);
}
