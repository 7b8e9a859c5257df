// The output of the program: progress and problems go to stderr, results to stdout. A terminal also shows a status line
// with the running vendors.
import process from "node:process";

export type Terminal = {
  /** Prints a result. */
  out(text: string): void;
  /** Prints an event or a problem. */
  line(text: string): void;
  /** Replaces the status line, if the output is a terminal. An empty text removes it. */
  status(text: string): void;
};

const ERASE_LINE = "\r\x1b[2K";

export function processTerminal(): Terminal {
  const live = process.stderr.isTTY === true && process.env.TERM !== "dumb";
  let shown = "";
  const columns = () => Math.max(20, (process.stderr.columns ?? 80) - 1);
  const draw = (text: string) => process.stderr.write(`${ERASE_LINE}${text.slice(0, columns())}`);
  return {
    out: (text) => void process.stdout.write(`${text}\n`),
    line: (text) => {
      process.stderr.write(live && shown !== "" ? `${ERASE_LINE}${text}\n` : `${text}\n`);
      if (live && shown !== "") draw(shown);
    },
    status: (text) => {
      if (!live || (text === "" && shown === "")) return;
      shown = text;
      draw(text);
    },
  };
}
