// One JSON object a line on stderr. Values are escaped by JSON; what is logged holds no secret by the rule of whoever
// logs it.
import { configure, getJsonLinesFormatter, type LogRecord } from "@logtape/logtape";
import process from "node:process";

/** A line longer than this is cut. reliability.md S-19. */
const LINE_CHARS_MAX = 16_384;

export async function configureLogging(level: "debug" | "info" | "warning" | "error"): Promise<void> {
  const format = getJsonLinesFormatter({ properties: "flatten" });
  await configure({
    reset: true,
    sinks: {
      stderr: (record: LogRecord) => {
        const line = format(record).trimEnd();
        process.stderr.write(`${line.length > LINE_CHARS_MAX ? cut(record) : line}\n`);
      },
    },
    loggers: [
      { category: ["berth"], lowestLevel: level, sinks: ["stderr"] },
      { category: ["logtape", "meta"], lowestLevel: "warning", sinks: ["stderr"] },
    ],
  });
}

function cut(record: LogRecord): string {
  return JSON.stringify({
    "@timestamp": new Date(record.timestamp).toISOString(),
    level: record.level,
    logger: record.category.join("."),
    message: "a log line was too long and is left out",
  });
}
