// Writes the iPXE script of one machine. The script loads a kernel with its arguments, an archive, and the machine's
// own files. A rescue boot of SmartOS does not load the machine's own files.
import { reservedKernelArgument } from "../../src/lib/text/kernel-argument.ts";
import { SCRIPT_BYTES_MAX } from "../limits.ts";
import {
  LINUX_ARCHIVE,
  LINUX_KERNEL,
  type LinuxImage,
  type PlatformImage,
  type SmartosImage,
} from "../platform-image.ts";
import { type ArgumentParts, consoleOf, kernelLine, operatorArguments } from "./arguments.ts";
import { argument, flag, ScriptFault, url } from "./word.ts";

export type ScriptParts = ArgumentParts & {
  readonly stamp: string;
  /** http://ADDRESS:PORT of this booter. */
  readonly origin: string;
  /** The ticket in the URLs of the machine's own files. */
  readonly ticket: string;
  readonly image: PlatformImage;
};

type Line = readonly string[];

/** The name of the archive with the machine's own files, for machines that boot a Linux node image. */
export const MACHINE_FILES = "machine.cpio";

/**
 * How often a machine tries to load its files, and the pause between two tries. The total time is longer than a restart
 * of the booter.
 */
const LOADS_MAX = 20;
const PAUSE_S = 3;
/**
 * The lines that run when a file could not be loaded, for example because the booter restarted. The script then pauses,
 * and loads all files again. iPXE cannot count, so `tries` gets one x for each try. The final `||` keeps iPXE from
 * ending the script when `iseq` finds that the texts differ.
 */
const AFTER_FAILURE = [
  ":failed",
  "set tries ${tries}x",
  `iseq \${tries} ${"x".repeat(LOADS_MAX)} && exit 1 ||`,
  `sleep ${PAUSE_S}`,
  "goto load",
] as const;

/**
 * Returns the text of the script.
 * @throws ScriptFault if a value is not allowed in a script, or the script is too long for iPXE's argument area
 */
export function renderScript(parts: ScriptParts): string {
  const { image } = parts;
  const body = image.kind === "linux" ? linuxLines(parts, image) : smartosLines(parts, image);
  const loads = body.map((words) => `${words.join(" ")} || goto failed`);
  const script = `${["#!ipxe", ":load", "imgfree", ...loads, "boot", ...AFTER_FAILURE].join("\n")}\n`;
  if (script.length > SCRIPT_BYTES_MAX) {
    throw new ScriptFault(`the script has ${script.length} bytes, more than the ${SCRIPT_BYTES_MAX} that are safe`);
  }
  return script;
}

/** The kernel of SmartOS requires this order of lines and these arguments of `module`. */
function smartosLines(parts: ScriptParts, { has_hash }: SmartosImage): readonly Line[] {
  const { stamp, origin, ticket, kind } = parts;
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
  return [kernel, ...modules];
}

/**
 * UEFI firmware passes the archives to the kernel by the names in `initrd=`, in this order. Under BIOS the order of the
 * lines decides, and the kernel ignores these arguments.
 */
function linuxLines(parts: ScriptParts, { command_line }: LinuxImage): readonly Line[] {
  const { stamp, origin, ticket } = parts;
  const { port, speed } = consoleOf(parts);
  const folder = `${origin}/os/${stamp}`;
  const words = [
    `initrd=${LINUX_ARCHIVE}`,
    `initrd=${MACHINE_FILES}`,
    ...command_line,
    // The system sends its messages to the last console on the command line.
    ...(port === "text" ? ["console=tty0"] : [`console=ttyS${TTYS.indexOf(port)},${speed}`]),
    ...operatorArguments(parts).map(operatorArgument),
  ];
  return [
    ["kernel", url(`${folder}/${LINUX_KERNEL}`), ...words.map(argument)],
    ["initrd", "--name", LINUX_ARCHIVE, url(`${folder}/${LINUX_ARCHIVE}`)],
    ["initrd", "--name", MACHINE_FILES, url(`${origin}/bootfs/${ticket}/${MACHINE_FILES}`)],
  ];
}

/** On Linux, too, only the booter sets the properties that contain secrets. */
function operatorArgument(text: string): string {
  const reserved = reservedKernelArgument(text);
  if (reserved !== null) throw new ScriptFault(`no operator may set the kernel argument ${reserved}`);
  return text;
}

/** Linux numbers the serial ports that SmartOS calls ttya to ttyd. */
const TTYS: readonly string[] = ["ttya", "ttyb", "ttyc", "ttyd"];
