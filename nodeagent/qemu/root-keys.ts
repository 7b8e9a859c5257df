// Writes root's keys from the control plane into a separate file, so that the keys that an administrator wrote stay.
// sshd reads both files by default.
import { join } from "node:path";
import { writeFileDurably } from "../../cli/internal/private-file.ts";

/** sshd's second default file of authorized keys. */
export const ROOT_KEYS_FILE = ".ssh/authorized_keys2";

export async function writeRootKeys(keys: readonly string[], home: string): Promise<void> {
  const note = "# Written by nodeagent from the setting cn.root_authorized_keys. Changes are lost.";
  await writeFileDurably(join(home, ROOT_KEYS_FILE), `${[note, ...keys].join("\n")}\n`);
}
