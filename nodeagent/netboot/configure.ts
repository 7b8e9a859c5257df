// nodeagent netboot configure: applies the boot record of this machine before its network starts.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { networkFiles, nicTagsOption, readBootFiles, shadowWithRoot } from "./boot-files.ts";

export type ConfigureOptions = {
  readonly boot_folder: string;
  /** The root of the file system to write to; empty on a machine. Tests set it. */
  readonly root: string;
};

const NETWORK_FOLDER = "run/systemd/network";
/** Files in this folder tell the services of the image how the machine boots: `enrol`, `local` or `rescue`. */
const STATE_FOLDER = "run/berth";
/** The file with the value of the agent's option --nic-tags. */
const NIC_TAGS = "nic-tags";
const BOOTS: readonly string[] = ["enrol", "local", "rescue"];

/** Writes the network's files, the agent's NIC tags, the host name, root's password and how the machine boots. */
export async function configure({ boot_folder, root }: ConfigureOptions): Promise<void> {
  const { properties, networking } = await readBootFiles(boot_folder);
  const boot = properties.get("boot") ?? "";
  if (!BOOTS.includes(boot)) throw new Error(`boot.properties: boot must be one of ${BOOTS.join(", ")}`);
  const at = (path: string) => join(root === "" ? "/" : root, path);
  await mkdir(at(NETWORK_FOLDER), { recursive: true });
  await mkdir(at(STATE_FOLDER), { recursive: true });
  for (const [name, text] of networkFiles(networking)) {
    await writeFile(name === "resolv.conf" ? at("etc/resolv.conf") : at(join(NETWORK_FOLDER, name)), text);
  }
  const nic_tags = nicTagsOption(networking);
  if (nic_tags !== null) await writeFile(at(join(STATE_FOLDER, NIC_TAGS)), nic_tags);
  const hostname = networking.hostname ?? properties.get("hostname") ?? DEFAULT_HOSTNAME;
  // systemd has already read /etc/hostname, so the kernel's host name must be set as well.
  await writeFile(at("etc/hostname"), `${hostname}\n`);
  await writeFile(at("proc/sys/kernel/hostname"), hostname);
  const shadow = await readFile(at("etc/shadow"), "utf8");
  await writeFile(at("etc/shadow"), shadowWithRoot(shadow, properties.get("root_shadow") ?? null), { mode: 0o640 });
  await writeFile(at(join(STATE_FOLDER, boot)), "");
}

/** The host name of a machine whose boot files contain no host name. */
const DEFAULT_HOSTNAME = "berth-node";
