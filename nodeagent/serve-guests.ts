// nodeagent serve-guests: serves DHCP, DNS and metadata to guests. The agent starts this process; users do not.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type AnyCommand, command } from "../cli/framework.ts";
import { readPrivateFile, writeFileDurably } from "../cli/internal/private-file.ts";
import { environmentOf } from "../cli/internal/run.ts";
import { MACHINE_DIR, placesOf, RUN_DIR } from "./qemu/folders.ts";
import { serveGuests } from "./network/guests/serve.ts";

/**
 * The key of metadata tokens, in the machine directory. The key is stored, so that tokens stay valid after a restart of
 * the agent.
 */
const TOKEN_KEY_FILE = "metadata-token-key";
const TOKEN_KEY_BYTES = 32;

export function serveGuestsCommand(): AnyCommand {
  return command("serve-guests", "Serve DHCP, DNS and metadata to guests; the agent starts this itself")
    .option("--machine-dir <folder>", "directory of disks and images", MACHINE_DIR)
    .action(async (options, member) => {
      const { stderr } = environmentOf(member as AnyCommand);
      const folders = { machine_dir: options.machineDir, run_dir: RUN_DIR };
      const filesOf = async (instance_id: string) => {
        const text = await readPrivateFile(placesOf(folders, instance_id).guest_files);
        return text === null ? {} : JSON.parse(text) as Readonly<Record<string, string>>;
      };
      const key = await tokenKey(options.machineDir);
      await serveGuests({ filesOf, key }, (line) => void stderr.write(`${line}\n`));
    }) as AnyCommand;
}

/** Returns the stored key; creates it the first time. */
async function tokenKey(machine_dir: string): Promise<Uint8Array> {
  const path = join(machine_dir, TOKEN_KEY_FILE);
  const stored = Buffer.from(await readPrivateFile(path) ?? "", "base64");
  if (stored.length === TOKEN_KEY_BYTES) return stored;
  const key = randomBytes(TOKEN_KEY_BYTES);
  await writeFileDurably(path, `${key.toString("base64")}\n`);
  return key;
}
