// Writes the files of one machine that boots a Linux node image. The booter sends them as a second initial file system.
// So the machine's secrets are not on the kernel's command line, which every user of the machine can read.
import { cpioArchive } from "./cpio.ts";
import { type ArgumentParts, kernelLine } from "./arguments.ts";
import { networkingJson } from "./networking.ts";

/** The folder of the files in the booted system. */
const FOLDER = "etc/berth";

/**
 * Returns the archive. It contains networking.json, and boot.properties with the booter's kernel properties, the kind
 * of boot, the booter's URL, the image's stamp and the machine's MAC address.
 */
export function machineFiles(parts: ArgumentParts & { readonly origin: string; readonly stamp: string }): Uint8Array {
  const { facts, kind, origin, stamp } = parts;
  // The arguments of operators are on the command line of the Linux kernel, so boot.properties does not contain them.
  const boot_arguments = { kernel_args: [], console: facts.boot_arguments.console };
  const { properties } = kernelLine({ ...parts, facts: { ...facts, boot_arguments }, extra: [] });
  const lines = [
    ...properties,
    `boot=${kind}`,
    `booter_url=${origin}`,
    `platform_stamp=${stamp}`,
    `boot_mac=${facts.mac}`,
  ];
  return cpioArchive(FOLDER, [
    { path: "boot.properties", text: `${lines.join("\n")}\n` },
    { path: "networking.json", text: networkingJson(facts) },
  ]);
}
