// Runs the control plane as users do: src/serve.ts in its own process, which a test can stop, kill and restart.
import { spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { HEAP_FLAG, starterPermissions } from "../../src/permissions.ts";

export type ServerProcess = {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Returns the server's stderr until now, for failure messages. */
  log(): string;
  isRunning(): boolean;
  /** Resolves with the server's exit code or signal when it has ended. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** Sends the signal and does not wait. */
  signal(name: NodeJS.Signals): void;
  /** Sends SIGKILL and waits for the end of the server. */
  kill(): Promise<void>;
  /** Sends SIGTERM and returns the server's exit code or signal. Throws if the server does not end in time. */
  stop(): Promise<number | NodeJS.Signals>;
};

export type ServerOptions = {
  /**
   * Environment variables, added to the defaults in startServer; undefined removes a variable. With the default PORT 0,
   * the server uses a free port.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Deno's permission flags of the process; by default it has all permissions. */
  readonly flags?: readonly string[];
  /**
   * Starts the server like `task start`: start.ts starts the server, and each process has exactly the permissions that
   * it needs.
   */
  readonly as_task?: boolean;
  /** The folder of the version to run. Default: the folder of this version. */
  readonly root?: string;
};

/** The flags that `task start` gives to each of its processes. */
export const TASK_FLAGS = ["--no-prompt", "--cached-only", "--frozen"];

/** A key that is valid only in tests. */
export const ROOT_KEY = "opsk_TESTROOTKEY1_0123456789ABCDEFGHIJKLMNOPQRSTUV";
/** All servers of the tests have this secret, because servers that share a database must have the same secret. */
const SECRET_KEY = "5e".repeat(32);

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/**
 * The time limit of the start of a server or of a group of agents. On an idle machine the first start, which creates
 * and migrates a cluster, takes some seconds. When other programs keep both cores of a machine busy, a start can take
 * longer than a minute. The tests notice at once when a server ends, so a long limit delays only the failure of a
 * server that hangs.
 */
export const START_LIMIT_MS = 300_000;
const STOP_LIMIT_MS = 20_000;

/**
 * Starts a server and waits until it logs that it listens. Throws an Error with the server's log if the server ends
 * before, or does not listen within START_LIMIT_MS.
 */
export async function startServer(options: ServerOptions = {}): Promise<ServerProcess> {
  const env = {
    ...inherited(),
    HOST: "127.0.0.1",
    PORT: "0",
    BERTH_ROOT_KEY: ROOT_KEY,
    BERTH_SECRET_KEY: SECRET_KEY,
    BERTH_APPROVE_PER_MINUTE: "1000000",
    BERTH_REGISTER_PER_MINUTE: "1000000",
    BERTH_LOGIN_ACCOUNT_PER_MINUTE: "1000000",
    BERTH_LIMITS_CALLER_REQUESTS_PER_MINUTE: "1000000000",
    BERTH_LIMITS_CALLER_WRITES_PER_MINUTE: "1000000000",
    ...options.env,
  };
  const { flags = ["-A", HEAP_FLAG], as_task = false, root = ROOT } = options;
  const argv = as_task
    ? [...TASK_FLAGS, ...starterPermissions(env), "src/start.ts", ...TASK_FLAGS]
    : [...flags, "src/serve.ts"];
  const child = spawn(process.execPath, ["run", ...argv], {
    cwd: root,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  let running = true;
  const ended = new Promise<number | NodeJS.Signals>((settle) => {
    child.once("close", (code, signal) => settle(signal ?? code ?? 0));
  }).finally(() => running = false);
  const url = await new Promise<string>((listening, fail) => {
    const limit = setTimeout(() => fail(new Error(`the server did not start in time:\n${log}`)), START_LIMIT_MS);
    createInterface({ input: child.stderr }).on("line", (line) => {
      log += `${line}\n`;
      const found = urlOf(line);
      if (found === null) return;
      clearTimeout(limit);
      listening(found);
    });
    void ended.then((how) => fail(new Error(`the server ended with ${how} before it listened:\n${log}`)));
  }).catch((error) => {
    child.kill("SIGKILL");
    throw error;
  });
  // child.kill is not used: Deno would then report the signal instead of the exit code, and would not send a second
  // signal.
  const signal = (name: NodeJS.Signals) => void (running && process.kill(child.pid!, name));
  return {
    url,
    port: Number(new URL(url).port),
    pid: child.pid!,
    log: () => log,
    isRunning: () => running,
    ended,
    signal,
    async kill() {
      signal("SIGKILL");
      await ended;
    },
    async stop() {
      signal("SIGTERM");
      const late = new Promise<never>((_, fail) => {
        const limit = setTimeout(() => fail(new Error(`the server did not stop in time:\n${log}`)), STOP_LIMIT_MS);
        void ended.then(() => clearTimeout(limit));
      });
      return await Promise.race([ended, late]);
    },
  };
}

/** Returns the variables of this process that Deno needs, without any setting of the server. */
function inherited(): Record<string, string> {
  const { PATH = "", HOME = "", DENO_DIR = "" } = process.env;
  return { PATH, HOME, ...(DENO_DIR === "" ? {} : { DENO_DIR }) };
}

function urlOf(line: string): string | null {
  try {
    const said = JSON.parse(line) as { message?: unknown; url?: unknown };
    return said.message === "listening" && typeof said.url === "string" ? said.url : null;
  } catch {
    return null; // Not every line is a log line in JSON: the server prints the root key as plain text.
  }
}
