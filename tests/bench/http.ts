// Runs the benchmark over HTTP. Starts a server with all permissions of Deno (`-A`), and a load process with keep-alive
// connections. After the run, compares the rows with the acknowledged messages, as engine-load.ts does without HTTP.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { KEY_LOOKUP_CHARS, KEY_SECRET_CHARS } from "../../src/contract/limits.ts";
import type { DbClient } from "../../src/db/pool.ts";
import { freePort } from "../../src/db/postgres-process.ts";
import { formatApiKey } from "../../src/lib/ids/api-key.ts";
import { START_LIMIT_MS } from "../support/server-process.ts";
import { cpuTime_ms } from "./cpu-time.ts";
import type { LoadOrder, LoadReport } from "./load.ts";
import { countRows, expectEqual, type LoadResult } from "./engine-load.ts";

export type HttpLoadOptions = {
  readonly databaseUrl: string;
  /** The ids of the nodes whose role the load sets. */
  readonly ids: readonly string[];
  readonly connections: number;
  readonly seconds: number;
  readonly db: DbClient;
  readonly serverPid: number;
};

const PROJECT = new URL("../../", import.meta.url);
const WARM_UP_MS = 2_000;
/** A rate limit that is higher than the number of requests a server can answer in a minute. */
const RATE_MAX = "1000000000";

export async function runHttpLoad(options: HttpLoadOptions): Promise<LoadResult> {
  const key = formatApiKey(letters(KEY_LOOKUP_CHARS), letters(KEY_SECRET_CHARS));
  const server = await startServer(options.databaseUrl, key);
  try {
    const before = await countRows(options.db);
    const { ids, connections, seconds } = options;
    const measured_ms = seconds * 1_000;
    const reported = applyLoad({ port: server.port, key, ids, connections, warm_up_ms: WARM_UP_MS, measured_ms });
    reported.catch(() => {}); // The promise is awaited below.
    const used = () => Promise.all([cpuTime_ms(server.pid), cpuTime_ms(options.serverPid)]);
    await new Promise((wake) => setTimeout(wake, WARM_UP_MS));
    const [berthBefore, serverBefore] = await used();
    await new Promise((wake) => setTimeout(wake, measured_ms));
    const [berthAfter, serverAfter] = await used();
    const report = await reported;
    const after = await countRows(options.db);
    expectEqual("transition rows", after.transitions - before.transitions, report.acknowledged);
    expectEqual("reply rows", after.replies - before.replies, report.acknowledged);
    const cores = (from: number | null, to: number | null) =>
      from === null || to === null ? null : (to - from) / measured_ms;
    return {
      messages_per_s: report.messages_per_s,
      engine_cores: cores(berthBefore, berthAfter),
      server_cores: cores(serverBefore, serverAfter),
      load_cores: report.cores,
      p50_ms: report.p50_ms,
      p99_ms: report.p99_ms,
    };
  } finally {
    await server.stop();
  }
}

function letters(count: number): string {
  return randomBytes(count).toString("base64url").slice(0, count);
}

async function startServer(databaseUrl: string, key: string) {
  const port = await freePort();
  const child = spawn(process.execPath, ["run", "-A", fileURLToPath(new URL("src/serve.ts", PROJECT))], {
    cwd: fileURLToPath(PROJECT),
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      // The rate limits are raised, because one caller sends the whole load.
      BERTH_LIMITS_CALLER_REQUESTS_PER_MINUTE: RATE_MAX,
      BERTH_LIMITS_CALLER_WRITES_PER_MINUTE: RATE_MAX,
      DATABASE_URL: databaseUrl,
      PORT: String(port),
      BERTH_ROOT_KEY: key,
      BERTH_SECRET_KEY: randomBytes(32).toString("hex"),
      BERTH_LOG_LEVEL: "info",
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise<void>((done) => child.once("close", () => done()));
  const said: string[] = [];
  await new Promise<void>((ready, fail) => {
    const limit = setTimeout(() => fail(new Error(`the server did not start:\n${said.join("\n")}`)), START_LIMIT_MS);
    createInterface({ input: child.stderr }).on("line", (line) => {
      if (said.length < 100) said.push(line);
      if (!line.includes("listening")) return;
      clearTimeout(limit);
      ready();
    });
    child.once("close", () => fail(new Error(`the server ended:\n${said.join("\n")}`)));
  });
  return {
    port,
    pid: child.pid ?? 0,
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

async function applyLoad(order: LoadOrder): Promise<LoadReport> {
  const child = spawn(process.execPath, ["run", "-A", fileURLToPath(new URL("load.ts", import.meta.url))], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout.on("data", (chunk) => printed += chunk);
  // Sends the order through standard input, because the key must not be in an argument list.
  child.stdin.end(JSON.stringify(order));
  const code = await new Promise<number | null>((done) => child.once("close", done));
  if (code !== 0) throw new Error(`the load process ended with ${code}`);
  return JSON.parse(printed) as LoadReport;
}
