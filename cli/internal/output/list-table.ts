// Formats a list as a table. In a pipe and with -o wide, no value is shortened. On a terminal without -o wide, ids are
// shortened to unique prefixes, and times to seconds. If the table is still wider than the terminal, these steps follow
// until it fits: truncate the widest cells; truncate very long names; omit columns from the last one on, and columns
// with `stays` only after all others.
import { sizeText } from "../byte-size.ts";
import { cellText, type Column, type ColumnStyle, fitted, pad, textWidth } from "../table.ts";
import { ageText } from "./age.ts";
import { colouredState } from "./state-colour.ts";

export type TableOptions = {
  readonly wide: boolean;
  /** Columns of the terminal; null in a pipe. */
  readonly width: number | null;
  readonly colour: boolean;
  readonly headers: boolean;
  readonly now_ms: number;
};
export type ListTable = {
  readonly text: string;
  /** Titles of the columns that did not fit. */
  readonly hidden: readonly string[];
};

const GAP = "  ";
const CUT = "…";
/**
 * Cells are not truncated below this width. The longest state is awaiting_setup. Ids, sizes, ages and times are never
 * truncated. The first column, which names the record, has its own limit.
 */
const CELL_COLUMNS_MIN = { text: 10, state: 14, id: Infinity, bytes: Infinity, age: Infinity, time: Infinity } as const;
/**
 * A name keeps at least this width, even if columns must then be left out. Longer names are truncated, because one name
 * of 63 bytes would hide the states of all records on a terminal of 80 columns.
 */
const NAME_COLUMNS_MIN = 40;
/** Shortest prefix of an id that the table shows. */
const ID_CHARS_MIN = 8;

type Cells = { readonly title: string; readonly style: ColumnStyle; readonly cells: readonly string[] };

export function listTable<T>(columns: readonly Column<T>[], rows: readonly T[], options: TableOptions): ListTable {
  const shown = columns.filter(([, , style]) => options.wide || style?.wide !== true);
  const whole = shown.map(([title, cell, style = {}]): Cells => ({
    title,
    style,
    cells: cellsOf(rows.map(cell), style, options),
  }));
  const widths = whole.map(({ title, cells }) => Math.max(textWidth(title), ...cells.map(textWidth)));
  const all = whole.map((_, at) => at);
  const at_kept = options.width === null || options.wide ? all : fit(widths, whole, options.width);
  const kept = at_kept.map((at) => ({ ...whole[at]!, width: widths[at]! }));
  const line = (texts: readonly string[], style: (text: string, at: number) => string) =>
    texts.map((text, at) => {
      const { width } = kept[at]!;
      const cut = textWidth(text) > width ? `${fitted(text, width - 1)}${CUT}` : text;
      // A colour has no width, so the padding is computed from the text without it.
      return style(cut, at) + pad(cut, at === kept.length - 1 ? 0 : width).slice(cut.length);
    }).join(GAP).trimEnd();
  const head = line(kept.map(({ title }) => title), (text) => text);
  const body = rows.map((_, row) =>
    line(
      kept.map(({ cells }) => cells[row]!),
      (text, at) => options.colour && kept[at]!.style.format === "state" ? colouredState(text) : text,
    )
  );
  const lines = [...options.headers ? [options.colour ? `\u001b[1m${head}\u001b[22m` : head] : [], ...body];
  return { text: lines.join("\n"), hidden: whole.filter((_, at) => !at_kept.includes(at)).map(({ title }) => title) };
}

function cellsOf(values: readonly unknown[], { format }: ColumnStyle, { wide, width, now_ms }: TableOptions): string[] {
  switch (format) {
    case "id": {
      const texts = values.map(cellText);
      return wide || width === null ? texts : shortened(texts);
    }
    case "bytes":
      return values.map((value) => typeof value === "number" ? sizeText(value) : cellText(value));
    case "age":
      return values.map((value) => typeof value === "string" ? ageText(value, now_ms) : cellText(value));
    case "time":
      return values.map((value) => wide || width === null ? cellText(value) : cellText(value).replace(FRACTION, ""));
    case "state":
    case undefined:
      return values.map(cellText);
  }
}

/** The fraction of a second in an ISO 8601 time. */
const FRACTION = /\.[0-9]+(?=Z$)/;

/** Shortens ids to prefixes of the same length. Different ids keep different prefixes. */
function shortened(ids: readonly string[]): string[] {
  const different = new Set(ids).size;
  let chars = ID_CHARS_MIN;
  const longest = Math.max(0, ...ids.map((id) => id.length));
  while (chars < longest && new Set(ids.map((id) => id.slice(0, chars))).size < different) chars++;
  return ids.map((id) => id.slice(0, chars).replace(/-$/, ""));
}

/** Reduces `widths` until the table fits. Returns the indexes of the columns that fit. */
function fit(widths: number[], columns: readonly Cells[], width: number): number[] {
  const total = (at: readonly number[]) => at.reduce((sum, each) => sum + widths[each]!, GAP.length * (at.length - 1));
  const kept = columns.map((_, at) => at);
  const floors = columns.map(({ title, style }, at) =>
    Math.min(
      widths[at]!,
      at === 0 || style.whole ? Infinity : Math.max(textWidth(title), CELL_COLUMNS_MIN[style.format ?? "text"]),
    )
  );
  while (total(kept) > width) {
    const widest = widths.reduce((best, each, at) => each > floors[at]! && each > (widths[best] ?? 0) ? at : best, -1);
    if (widest < 0) break;
    widths[widest] = widths[widest]! - 1;
  }
  const { format } = columns[0]!.style;
  const longest = format === undefined && columns[0]!.style.whole !== true ? NAME_COLUMNS_MIN : Infinity;
  widths[0] = Math.min(widths[0]!, Math.max(longest, widths[0]! - Math.max(0, total(kept) - width)));
  while (kept.length > 1 && total(kept) > width) {
    const last = kept.findLastIndex((at) => columns[at]!.style.stays !== true);
    kept.splice(last > 0 ? last : kept.length - 1, 1);
  }
  return kept;
}
