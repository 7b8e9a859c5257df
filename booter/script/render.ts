// Writes the iPXE script of one machine. The script loads the platform's kernel with its arguments, the boot archive,
// and the machine's own files. The kernel requires this order of lines and these arguments of `module`.
import { SCRIPT_BYTES_MAX } from "../limits.ts";
import { type ArgumentParts, kernelLine } from "./arguments.ts";
import { flag, ScriptFault, url } from "./word.ts";

export type ScriptParts = ArgumentParts & {
  readonly stamp: string;
  /** http://ADDRESS:PORT of this booter. */
  readonly origin: string;
  /** The ticket in the URLs of the machine's own files. */
  readonly ticket: string;
  readonly has_hash: boolean;
};

/**
 * Returns the text of the script.
 * @throws ScriptFault if a value is not allowed in a script, or the script is too long for iPXE's argument area
 */
export function renderScript(parts: ScriptParts): string {
  const { stamp, origin, ticket, kind, has_hash } = parts;
  const { flags, properties } = kernelLine(parts);
  // The kernel's path must end with platform/i86pc/kernel/amd64/unix, because the kernel's runtime linker requires
  // this.
  const platform = `${origin}/os/${stamp}/platform/i86pc`;
  const kernel = ["kernel", url(`${platform}/kernel/amd64/unix`), ...flags.map(flag), "-B", properties.join(",")];
  const archive = `${platform}/amd64/boot_archive`;
  const modules = [["module", url(archive), "type=rootfs", "name=ramdisk"]];
  // A rescue boot loads only the kernel and the archive. Without the archive's hash, a rescue boot starts even if the
  // archive is damaged.
  if (kind !== "rescue") {
    if (has_hash) modules.push(["module", url(`${archive}.hash`), "type=hash", "name=ramdisk"]);
    const own = `${origin}/bootfs/${ticket}/networking.json`;
    modules.push(["module", url(own), "type=file", "name=networking.json"]);
    modules.push(["module", url(`${own}.hash`), "type=hash", "name=networking.json"]);
  }
  const lines = ["#!ipxe", kernel.join(" "), ...modules.map((words) => words.join(" ")), "boot"];
  const script = `${lines.join("\n")}\n`;
  if (script.length > SCRIPT_BYTES_MAX) {
    throw new ScriptFault(`the script has ${script.length} bytes, more than the ${SCRIPT_BYTES_MAX} that are safe`);
  }
  return script;
}
