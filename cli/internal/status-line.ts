// How far a long call has come, on stderr: one line that is rewritten in place on a terminal, a plain line per change
// elsewhere, nothing with --json.
import type { Io } from "./io.ts";
import { plainText } from "./plain-text.ts";
import { fitted } from "./table.ts";

export type StatusLine = {
  /** `text` says what changed; `before` (a time that passes, say) is shown on a terminal only, in front of it. */
  show(text: string, before?: string): void;
  /** Takes the line away. Needed before anything else is printed. */
  clear(): void;
};

const ERASE = "\r\u001b[K";

export function statusLine({ environment: { stderr }, json }: Pick<Io, "environment" | "json">): StatusLine {
  if (json) return { show: () => {}, clear: () => {} };
  let last = "";
  return {
    show: (text, before = "") => {
      // One column is left free: a terminal wraps a line that fills it, and a wrapped line cannot be rewritten.
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
