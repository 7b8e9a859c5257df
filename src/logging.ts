// One JSON object a line on stderr. Values are escaped by JSON; what is logged holds no secret by the rule of whoever
// logs it.
import { configure, getJsonLinesFormatter, type LogRecord } from "@logtape/logtape";
import { Buffer } from "node:buffer";
import process from "node:process";

/** A line longer than this is left out. reliability.md S-19. */
const LINE_BYTES_MAX = 16_384;
/** What JSON lets stand and a terminal or an editor acts on: controls, marks of direction, separators, the unseen. */
const ACTING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

export async function configureLogging(level: "debug" | "info" | "warning" | "error"): Promise<void> {
  await configure({
    reset: true,
    sinks: {
      stderr: (record: LogRecord) => void process.stderr.write(`${logLine(record)}\n`),
    },
    loggers: [
      { category: ["berth"], lowestLevel: level, sinks: ["stderr"] },
      { category: ["logtape", "meta"], lowestLevel: "warning", sinks: ["stderr"] },
    ],
  });
}

const format = getJsonLinesFormatter({ properties: "flatten" });

/** One line of printable text, whatever the record holds. */
export function logLine(record: LogRecord): string {
  const line = format(record).trimEnd().replace(ACTING, escaped);
  return Buffer.byteLength(line) > LINE_BYTES_MAX ? cut(record) : line;
}

/** As JSON writes it: one escape for each half of a pair. */
function escaped(text: string): string {
  return text.split("").map((half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
}

function cut(record: LogRecord): string {
  return JSON.stringify({
    "@timestamp": new Date(record.timestamp).toISOString(),
    level: record.level,
    logger: record.category.join("."),
    message: "a log line was too long and is left out",
  });
}
