// Checks the words of a boot script. iPXE splits at blanks, expands ${...} and interprets &&, || and ;, so a word may
// contain only characters without such a meaning. The control plane checked the values when it stored them; this file
// checks them again.
import { isKernelArgument } from "../../src/lib/text/kernel-argument.ts";

export class ScriptFault extends Error {}

const KEY = /^[A-Za-z][A-Za-z0-9_.-]{0,127}$/;
const VALUE = /^[A-Za-z0-9_.:=/+@%-]{1,256}$/;
/** A sha512-crypt hash. It has dollar signs but no braces, so iPXE expands nothing. */
const CRYPT = /^\$6\$[./0-9A-Za-z]{1,16}\$[./0-9A-Za-z]{86}$/;
const FLAG = /^-[A-Za-z][A-Za-z0-9]{0,15}$/;
const URL_WORD = /^https?:\/\/[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?(?:\/[A-Za-z0-9._~-]+)+$/;

export function key(text: string): string {
  return checked(text, KEY, "key");
}
export function value(text: string): string {
  return checked(text, VALUE, "value");
}
export function cryptHash(text: string): string {
  return checked(text, CRYPT, "password hash");
}
export function flag(text: string): string {
  return checked(text, FLAG, "flag");
}
/** A kernel argument, as the control plane and the manifest of an image may contain it. */
export function argument(text: string): string {
  if (!isKernelArgument(text)) throw new ScriptFault("a kernel argument of the script has invalid characters");
  return text;
}
export function url(text: string): string {
  if (text.includes("..")) throw new ScriptFault("a URL of the script contains ..");
  return checked(text, URL_WORD, "URL");
}

/**
 * Returns the text if it has the form. The error does not contain the text, because errors are logged and the text may
 * be a secret.
 */
function checked(text: string, form: RegExp, what: string): string {
  if (typeof text !== "string" || !form.test(text)) {
    throw new ScriptFault(`a ${what} of the script has invalid characters`);
  }
  return text;
}
