// Where the words go: progress and problems to stderr, results to stdout. On a terminal one line shows what is at work; to a
// file or a pipe every event is a line of its own.
import process from "node:process";

export type Terminal = {
  /** A result. */
  out(text: string): void;
  /** A line that stays. */
  line(text: string): void;
  /** What is at work now; shown on terminals only. Empty ends it. */
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
