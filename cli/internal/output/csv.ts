// Writes CSV with the values of the records, not with the shortened text that tables show. Quotes are as in RFC 4180,
// but lines end with a line feed alone: a shell or awk would read a carriage return as a part of the last value.
import { plainText } from "../plain-text.ts";

/** Returns the lines, each with its line end; "" without titles and rows. */
export function csvText(titles: readonly string[] | null, rows: readonly (readonly unknown[])[]): string {
  const lines = titles === null ? rows : [titles, ...rows];
  return lines.map((cells) => `${cells.map(field).join(",")}\n`).join("");
}

function field(value: unknown): string {
  if (value === null || value === undefined) return "";
  const text = plainText(typeof value === "object" ? JSON.stringify(value) : String(value));
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
