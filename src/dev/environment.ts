// Builds the executables of the dev environment, and starts its server process with embedded PostgreSQL and a given
// root key.
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { EXECUTABLES, newestSource, oldestExecutable } from "./build-age.ts";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export type DevEnvironment = {
  readonly url: string;
  readonly rootKey: string;
  readonly server: ChildProcess;
  /** Drains the server, and stops the server and its PostgreSQL. */
  stop(): Promise<void>;
};

export type EnvironmentOptions = {
  readonly dataDir: string;
  readonly port: number;
  readonly rootKey: string;
  readonly nodes: number;
};

const START_LIMIT_MS = 60_000;

/** The setting that this file overrides. The output leaves out the server's warning about the override. */
const FETCH_SETTING = "fetch.allowed_private";

/** Returns a random key in the form of BERTH_ROOT_KEY. */
export function newRootKey(): string {
  const text = randomBytes(33).toString("base64url");
  return `opsk_${text.slice(0, 12)}_${text.slice(12)}`;
}

/** Starts the server and waits until it listens. */
export async function startDevEnvironment(options: EnvironmentOptions): Promise<DevEnvironment> {
  const { DATABASE_URL: _database, ...env } = process.env;
  const server = spawn(process.execPath, ["run", "-A", "--quiet", join(ROOT, "src/serve.ts")], {
    cwd: ROOT,
    env: {
      BERTH_IMAGE_DIR: join(options.dataDir, "images"),
      ...env,
      HOST: "127.0.0.1",
      PORT: String(options.port),
      BERTH_DATA_DIR: options.dataDir,
      BERTH_ROOT_KEY: options.rootKey,
      BERTH_LAB: "1",
      // The demo serves its images at a loopback address, from which nodes may not fetch by default.
      BERTH_FETCH_ALLOWED_PRIVATE: '["127.0.0.0/8"]',
      BERTH_LAB_NODES: String(options.nodes),
    },
    // The server gets no Ctrl-C from the terminal. Only this process gets it, and sends the server one signal.
    detached: true,
    stdio: ["ignore", "inherit", "pipe"],
  });
  const url = await listening(server);
  return {
    url,
    rootKey: options.rootKey,
    server,
    stop: async () => {
      if (server.exitCode !== null || server.signalCode !== null) return;
      const ended = once(server, "exit");
      // Does not use server.kill, because Deno would then report the signal instead of the exit code.
      process.kill(server.pid!, "SIGTERM");
      await ended;
    },
  };
}

/**
 * Reads the server's log until the log contains the server's address. If the server exits first or does not listen in
 * time, rejects with an Error that contains the log.
 */
function listening(server: ChildProcess): Promise<string> {
  const logged: string[] = [];
  return new Promise((resolve, reject) => {
    const limit = setTimeout(
      () => reject(new Error(`the server did not start:\n${logged.join("\n")}`)),
      START_LIMIT_MS,
    );
    const lines = createInterface({ input: server.stderr! });
    lines.on("line", (line) => {
      const entry = logEntry(line);
      if (entry?.message === "listening" && entry.url !== undefined) {
        clearTimeout(limit);
        resolve(entry.url);
      }
      if (entry === null || (entry.level !== "INFO" && entry.key !== FETCH_SETTING)) process.stderr.write(`${line}\n`);
      logged.push(line);
    });
    server.once("exit", (code, signal) => {
      clearTimeout(limit);
      reject(new Error(`the server ended (${signal ?? code}):\n${logged.join("\n")}`));
    });
  });
}

type LogEntry = { readonly message?: string; readonly level?: string; readonly url?: string; readonly key?: string };

function logEntry(line: string): LogEntry | null {
  try {
    return JSON.parse(line);
  } catch {
    return null; // The line is not a log line.
  }
}

/** Builds the executables unless they are newer than all their sources. */
export async function buildExecutables(): Promise<void> {
  if (oldestExecutable(ROOT) > newestSource(ROOT)) return;
  const build = spawn(process.execPath, ["run", "-A", "--quiet", join(ROOT, "cli/compile.ts"), ...EXECUTABLES], {
    cwd: ROOT,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = await once(build, "exit");
  if (code !== 0) throw new Error("the executables were not built");
}
