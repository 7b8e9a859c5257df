// Writes YAML for `-o yaml`, in block style. Every string is in double quotes, so that parsers of YAML 1.1 and 1.2 read
// back the same value ("no", 12:30, 0123). plainText's escapes of control bytes are valid YAML.
import { plainText } from "../plain-text.ts";

/** Returns a JSON value as YAML. */
export function yamlText(value: unknown): string {
  return linesOf(value).join("\n");
}

function linesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.length === 0 ? ["[]"] : value.flatMap((item) => hung("-", linesOf(item)));
  if (typeof value !== "object" || value === null) return [scalar(value)];
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return entries.length === 0 ? ["{}"] : entries.flatMap(([name, each]) => entry(keyText(name), each));
}

/** Puts a block below its key, and any other value next to its key. */
function entry(key: string, value: unknown): string[] {
  const lines = linesOf(value);
  const is_block = typeof value === "object" && value !== null && !/^(?:\[\]|\{\})$/.test(lines[0]!);
  return is_block ? [`${key}:`, ...lines.map((line) => `  ${line}`)] : [`${key}: ${lines[0]}`];
}

/** Puts the first line next to the mark, and the other lines below the first. */
function hung(mark: string, [first = "", ...rest]: readonly string[]): string[] {
  return [`${mark} ${first}`, ...rest.map((line) => `  ${line}`)];
}

function scalar(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  // Without a point, YAML 1.1 reads 1e+21 as text.
  return JSON.stringify(value ?? null).replace(/^(-?[0-9]+)e/, "$1.0e");
}

function quoted(text: string): string {
  return plainText(JSON.stringify(text));
}

/** Quotes every key that YAML 1.1 might not read as text, such as yes, null or y. */
function keyText(name: string): string {
  const plain = /^[A-Za-z_]{2}[A-Za-z0-9_-]*$/.test(name) && !/^(?:yes|no|on|off|true|false|null)$/i.test(name);
  return plain ? name : quoted(name);
}
