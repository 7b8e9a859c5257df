// Checks kernel arguments that a root operator adds to a boot. Each argument becomes one word of a boot script, so a
// value that could end its word or start another is rejected (docs/reliability.md, S-22). The booter checks what each
// argument means.
import { RESERVED_KERNEL_PROPERTIES } from "../../contract/enums.ts";
import { KERNEL_ARGUMENT_CHARS_MAX } from "../../contract/limits.ts";

const RESERVED: ReadonlySet<string> = new Set(RESERVED_KERNEL_PROPERTIES);

/**
 * Returns the name of a property in this argument that only the booter may set, or null. The platform's form
 * `-Ba=b,c=d` sets several properties. The check ignores the letter case, and treats `-` like `_`.
 */
export function reservedKernelArgument(text: string): string | null {
  const names = text.replace(/^-B/, "").split(",").map((part) => part.split("=", 1)[0]!);
  return names.find((name) => RESERVED.has(name.toLowerCase().replaceAll("-", "_"))) ?? null;
}

/** Returns whether the text is one safe word: 1 to 256 characters of A-Z a-z 0-9 _ . , : = / + @ % - */
export function isKernelArgument(text: string): boolean {
  return text.length <= KERNEL_ARGUMENT_CHARS_MAX && /^[A-Za-z0-9_.,:=/+@%-]+$/.test(text);
}
