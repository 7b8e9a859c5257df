// Formats tables and labelled blocks: left-aligned, two spaces between columns, no borders. Only the tables of lists on
// a terminal (output/list-table.ts) are truncated.
import { plainText } from "./plain-text.ts";

export type Column<T> = readonly [title: string, cell: (row: T) => unknown, style?: ColumnStyle];

/**
 * How the table of a list shows a column. Sorting and CSV use the value itself. --filter also accepts the shown form.
 */
export type ColumnStyle = {
  /**
   * `id`: on a terminal, shortened to a unique prefix. `state`: coloured by its first word. `bytes`: a number of bytes,
   * shown as `4GiB`. `age`: an ISO 8601 time, shown as the time since then. `time`: an ISO 8601 time, on a terminal
   * shown to the second. With `-o wide`, ids and times are complete.
   */
  readonly format?: "id" | "state" | "bytes" | "age" | "time";
  /** A narrow terminal omits the column only after all columns without this mark. It never omits the first column. */
  readonly stays?: boolean;
  /** The cells of the column are never truncated. */
  readonly whole?: boolean;
  /** Shown only with `-o wide` and by --columns. */
  readonly wide?: boolean;
};

export const ID_COLUMN = { format: "id" } as const;
export const STATE_COLUMN = { format: "state" } as const;
export const BYTES_COLUMN = { format: "bytes" } as const;
export const AGE_COLUMN = { format: "age" } as const;
export const TIME_COLUMN = { format: "time" } as const;
export const WIDE_COLUMN = { wide: true } as const;
/** The id of a related record, which only wide tables show. */
export const WIDE_ID_COLUMN = { format: "id", wide: true } as const;

/** Formats one value: `-` if unset, compact JSON for objects. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined || value === "") return "-";
  return plainText(typeof value === "object" ? JSON.stringify(value) : String(value));
}

export function tableText<T>(columns: readonly Column<T>[], rows: readonly T[], bold = false): string {
  const titles = columns.map(([title]) => title);
  const body = rows.map((row) => columns.map(([, cell]) => cellText(cell(row))));
  const widths = titles.map((title, i) => Math.max(...[title, ...body.map((cells) => cells[i]!)].map(textWidth)));
  const line = (cells: string[]) => cells.map((cell, i) => pad(cell, widths[i]!)).join("  ").trimEnd();
  const head = line(titles);
  return [bold ? `\u001b[1m${head}\u001b[22m` : head, ...body.map(line)].join("\n");
}

/** Formats `label:  value` lines with aligned values. */
export function blockText(entries: readonly (readonly [label: string, value: unknown])[]): string {
  const width = Math.max(...entries.map(([label]) => label.length)) + 1;
  return entries.map(([label, value]) => `${pad(`${label}:`, width)}  ${cellText(value)}`).join("\n");
}

/** Truncates `text` to this number of terminal columns. */
export function fitted(text: string, columns: number): string {
  let shown = "";
  let width = 0;
  for (const mark of text) {
    width += textWidth(mark);
    if (width > columns) break;
    shown += mark;
  }
  return shown;
}

export function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - textWidth(text)));
}

/** Returns the number of terminal columns: none for combining marks, two for East Asian wide characters and emoji. */
export function textWidth(text: string): number {
  let width = 0;
  for (const mark of text) {
    if (/\p{M}|\u200d/u.test(mark)) continue;
    width += WIDE.test(mark) ? 2 : 1;
  }
  return width;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
