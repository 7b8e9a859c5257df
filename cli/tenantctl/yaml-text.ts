// YAML for `-o yaml`: block style, every string in double quotes, so that readers of YAML 1.1 and 1.2 alike take back what
// was written ("no", 12:30, 0123), and no byte of it moves a cursor: there the escapes of plainText are YAML's own.
import { plainText } from "../internal/plain-text.ts";

/** @param value what JSON can hold */
export function yamlText(value: unknown): string {
  return linesOf(value).join("\n");
}

function linesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.length === 0 ? ["[]"] : value.flatMap((item) => hung("-", linesOf(item)));
  if (typeof value !== "object" || value === null) return [scalar(value)];
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return entries.length === 0 ? ["{}"] : entries.flatMap(([name, each]) => entry(keyText(name), each));
}

/** A block goes below its key, everything else beside it. */
function entry(key: string, value: unknown): string[] {
  const lines = linesOf(value);
  const is_block = typeof value === "object" && value !== null && !/^(?:\[\]|\{\})$/.test(lines[0]!);
  return is_block ? [`${key}:`, ...lines.map((line) => `  ${line}`)] : [`${key}: ${lines[0]}`];
}

/** The first line beside the mark, the others below it. */
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

/** What YAML 1.1 reads as something else than text is quoted: yes, null, and e0 as a number. */
function keyText(name: string): string {
  const plain = /^[A-Za-z_]{2}[A-Za-z0-9_-]*$/.test(name) && !/^(?:yes|no|on|off|true|false|null)$/i.test(name);
  return plain ? name : quoted(name);
}
