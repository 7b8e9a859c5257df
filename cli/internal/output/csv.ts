// Writes CSV (RFC 4180) with the values of the records, not with the shortened text that tables show.
import { plainText } from "../plain-text.ts";

export function csvText(titles: readonly string[] | null, rows: readonly (readonly unknown[])[]): string {
  const lines = rows.map((cells) => cells.map(field).join(","));
  return [...titles === null ? [] : [titles.map(field).join(",")], ...lines].join("\r\n");
}

function field(value: unknown): string {
  if (value === null || value === undefined) return "";
  const text = plainText(typeof value === "object" ? JSON.stringify(value) : String(value));
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
