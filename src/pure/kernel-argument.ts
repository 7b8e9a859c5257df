// Kernel arguments that an operator adds to a boot. They become words of a boot script, so a value that could end its
// word or start another is refused (reliability.md S-22), and one that hands whoever stands at the console a shell, a
// debugger or a secret is for root operators only.
import { KERNEL_ARGUMENT_CHARS_MAX } from "../contract/limits.ts";

/** Flags of the platform's kernel that only change what it prints or probes: verbose, reconfigure, no cluster. */
const HARMLESS_FLAGS = /^-[vrx]+$/;

/** Names, in lower case with underscores, since kernels read `a-b` and `a_b` as one name. */
const ROOT_ONLY: ReadonlySet<string> = new Set([
  // The first program, or a stop before it.
  "init",
  "rdinit",
  "altinit",
  "break",
  "rd.break",
  "rd.shell",
  "rd.emergency",
  // A state with a shell.
  "1",
  "s",
  "single",
  "emergency",
  "rescue",
  "systemd.unit",
  "rd.systemd.unit",
  "systemd.debug_shell",
  "rd.systemd.debug_shell",
  "systemd.run",
  // Where a console, a debugger or the magic keys listen.
  "console",
  "kgdboc",
  "kmdb",
  "sysrq_always_enabled",
  // Secrets that only the control plane sets. Document 2, CN record, sysinfo.
  "root_shadow",
  "rabbitmq",
]);

/** Whether the text is one safe word: 1 to 256 of A-Z a-z 0-9 _ . , : = / + @ % - */
export function isKernelArgument(text: string): boolean {
  return text.length <= KERNEL_ARGUMENT_CHARS_MAX && /^[A-Za-z0-9_.,:=/+@%-]+$/.test(text);
}

/**
 * Whether only a root operator may set this argument. A comma separates boot properties (`-B a=1,b=2`), so each part
 * counts, and a flag counts unless it is known to be harmless.
 * @param text passes `isKernelArgument`
 */
export function isRootOnlyKernelArgument(text: string): boolean {
  return text.replace(/^-B/, "").split(",").some((part) => {
    if (part.startsWith("-")) return !HARMLESS_FLAGS.test(part);
    const name = part.split("=", 1)[0]!.toLowerCase().replaceAll("-", "_");
    return ROOT_ONLY.has(name);
  });
}
