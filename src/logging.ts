// Logs one JSON object per line on stderr. Values are escaped as in JSON. Callers must not log secrets.
import { configure, getJsonLinesFormatter, type LogRecord } from "@logtape/logtape";
import { Buffer } from "node:buffer";
import process from "node:process";

/**
 * The longest log line. A longer line is replaced by a note that does not contain its text (docs/reliability.md, S-19).
 */
const LINE_BYTES_MAX = 16_384;
/** Characters that JSON does not escape, but that control a terminal or an editor. */
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

/** Returns the record as one line of printable text. */
export function logLine(record: LogRecord): string {
  const line = format(record).trimEnd().replace(ACTING, escaped);
  return Buffer.byteLength(line) > LINE_BYTES_MAX ? cut(record) : line;
}

/** Escapes characters as in JSON, with one escape for each half of a surrogate pair. */
function escaped(text: string): string {
  return text.split("").map((half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
}

function cut(record: LogRecord): string {
  return JSON.stringify({
    "@timestamp": new Date(record.timestamp).toISOString(),
    level: record.level,
    logger: record.category.join("."),
    message: "a log line was too long and was left out",
  });
}
