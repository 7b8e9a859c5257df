// Runs wrk, an HTTP load generator that needs little processor time. The requests come from a Lua script in a temporary
// file, so that no key is in an argument list.
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { pathOf } from "../support/optional-programs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** The number of wrk's threads. The machine of the published figures has two cores. */
const THREADS = 2;
/** wrk counts an answer after this time as an error. */
const TIMEOUT_S = 10;

export type WrkLoad = {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly method: "GET" | "POST";
  /** The paths. Each request uses a random path. */
  readonly paths: readonly string[];
  /** The bodies, which the requests use in turn. The list is empty for GET. */
  readonly bodies: readonly string[];
};

export type WrkReport = {
  readonly requests_per_s: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly requests: number;
};

/** Returns whether wrk is installed. */
export function hasWrk(): boolean {
  return pathOf("wrk") !== null;
}

/**
 * Runs one load. Throws if wrk counts an error: a status of 400 or more, a failed connection, read or write, or a
 * timeout.
 */
export async function runWrk(load: WrkLoad): Promise<WrkReport> {
  const program = pathOf("wrk");
  if (program === null) throw new Error("wrk is not installed");
  const folder = await temporaryFolder("wrk");
  try {
    const script = join(folder.path, "load.lua");
    await writeFile(script, lua(load), { mode: 0o600 });
    const { stdout } = await promisify(execFile)(program, [
      `--threads=${THREADS}`,
      `--connections=${load.connections}`,
      `--duration=${load.seconds}s`,
      `--timeout=${TIMEOUT_S}s`,
      "--latency",
      `--script=${script}`,
      load.url,
    ]);
    return reportOf(stdout);
  } finally {
    await folder.remove();
  }
}

function lua({ method, headers, paths, bodies }: WrkLoad): string {
  const list = (texts: readonly string[]) => `{${texts.map((text) => JSON.stringify(text)).join(",")}}`;
  return `
${Object.entries(headers).map(([name, value]) => `wrk.headers["${name}"] = ${JSON.stringify(value)}`).join("\n")}
local paths = ${list(paths)}
local bodies = ${list(bodies)}
local count = 0
function request()
  count = count + 1
  return wrk.format("${method}", paths[math.random(#paths)], nil, bodies[count % #bodies + 1])
end
function done(summary, latency)
  print(string.format("report %d %d %f %f %d", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99),
    summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.write +
    summary.errors.timeout))
end
`;
}

/**
 * Reads the line that the script prints. It has the number of requests, the duration, p50 and p99 in microseconds, and
 * the number of errors.
 */
function reportOf(printed: string): WrkReport {
  const found = /^report (\d+) (\d+) ([\d.]+) ([\d.]+) (\d+)$/m.exec(printed);
  if (found === null) throw new Error(`wrk printed no report:\n${printed}`);
  const [requests = 0, duration_us = 0, p50_us = 0, p99_us = 0, errors = 0] = found.slice(1).map(Number);
  if (errors > 0) throw new Error(`${errors} requests of wrk failed:\n${printed}`);
  return {
    requests_per_s: requests / duration_us * 1_000_000,
    p50_ms: p50_us / 1_000,
    p99_ms: p99_us / 1_000,
    requests,
  };
}
