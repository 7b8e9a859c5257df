// Shows the progress of a long call on stderr. On a terminal one line is rewritten in place. Otherwise each change is a
// new line. Shows nothing if a program reads the output, or with -q.
import type { Io } from "./io.ts";
import { plainText } from "./plain-text.ts";
import { fitted } from "./table.ts";

export type StatusLine = {
  /** Shows the text. On a terminal, also shows `before`, such as a running clock, in front of it. */
  show(text: string, before?: string): void;
  /** Erases the line. Call it before any other output. */
  clear(): void;
};

const ERASE = "\r\u001b[K";

export function statusLine({ environment, json, is_data }: Pick<Io, "environment" | "json" | "is_data">): StatusLine {
  if (json || is_data) return { show: () => {}, clear: () => {} };
  const { stderr } = environment;
  let last = "";
  return {
    show: (text, before = "") => {
      // Leaves one column free: a terminal wraps a full line, and a wrapped line cannot be rewritten.
      if (stderr.isTTY) stderr.write(ERASE + fitted(plainText(before + text), stderr.columns - 1));
      else if (text !== last) stderr.write(`${plainText(text)}\n`);
      last = text;
    },
    clear: () => {
      if (stderr.isTTY && last !== "") stderr.write(ERASE);
      last = "";
    },
  };
}
