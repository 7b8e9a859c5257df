// Fills in the lines @NAME@ of the install scripts.
import { Buffer } from "node:buffer";

const BASE64_COLUMNS = 76;

export function base64Lines(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").match(new RegExp(`.{1,${BASE64_COLUMNS}}`, "g"))!.join("\n");
}

/** Replaces the lines @NAME@. Throws an Error if the template lacks one. */
export function withLines(template: string, lines: Readonly<Record<string, string>>): string {
  return Object.entries(lines).reduce((text, [name, value]) => {
    const line = `@${name}@`;
    if (!text.includes(line)) throw new Error(`the install script has no line ${line}`);
    return text.replace(line, () => value);
  }, template);
}
