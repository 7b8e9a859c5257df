// Prints the output of the program: results go to stdout, all other text to stderr. A terminal also shows a status line
// with the running vendors.
import type { Environment } from "../cli/internal/environment.ts";
import { fitted } from "../cli/internal/table.ts";

export type Terminal = {
  /** Prints a result. */
  out(text: string): void;
  /** Prints an event or a problem. */
  line(text: string): void;
  /** Replaces the status line, if the output is a terminal. An empty text removes it. */
  status(text: string): void;
};

const ERASE_LINE = "\r\x1b[2K";

export function openTerminal({ stdout, stderr, env }: Environment): Terminal {
  const live = stderr.isTTY && env.TERM !== "dumb";
  let shown = "";
  // Leaves one column free: a terminal wraps a full line, and a wrapped line cannot be rewritten.
  const draw = (text: string) => stderr.write(`${ERASE_LINE}${fitted(text, stderr.columns - 1)}`);
  return {
    out: (text) => stdout.write(`${text}\n`),
    line: (text) => {
      stderr.write(live && shown !== "" ? `${ERASE_LINE}${text}\n` : `${text}\n`);
      if (live && shown !== "") draw(shown);
    },
    status: (text) => {
      if (!live || (text === "" && shown === "")) return;
      shown = text;
      draw(text);
    },
  };
}
