// Kernel arguments that a root operator adds to a boot. Each becomes one word of a boot script, so a value that could
// end its word or start another is rejected (docs/reliability.md S-22). The booter checks what each argument means.
import { KERNEL_ARGUMENT_CHARS_MAX } from "../../contract/limits.ts";

/** Returns whether the text is one safe word: 1 to 256 characters of A-Z a-z 0-9 _ . , : = / + @ % - */
export function isKernelArgument(text: string): boolean {
  return text.length <= KERNEL_ARGUMENT_CHARS_MAX && /^[A-Za-z0-9_.,:=/+@%-]+$/.test(text);
}
