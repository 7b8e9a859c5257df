// Runs a PostgreSQL server. The server has its own session, so Ctrl-C reaches only our process, which drains before it
// stops the server. A shell process, the watcher, reads a pipe from us: when we are killed (kill -9), the pipe closes
// and the watcher stops the server.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { bareEnvironment } from "./bare-environment.ts";
import type { Cluster } from "./cluster-init.ts";

export type PostgresProcess = {
  readonly pid: number;
  readonly port: number;
  /** Resolves when the server has ended, with a text that says how it ended. */
  readonly ended: Promise<string>;
  isRunning(): boolean;
};

const READY_LIMIT_MS = 60_000;
const POLL_MS = 20;

// $1 is the server's pid. `read` returns when the kernel closes our end of the pipe. This happens in whatever way our
// process ends.
const WATCH = `trap '' HUP INT TERM
read _
kill -INT "$1" 2>/dev/null || exit 0
n=0
while kill -0 "$1" 2>/dev/null && [ $n -lt 30 ]; do sleep 1; n=$((n + 1)); done
kill -QUIT "$1" 2>/dev/null`;

/**
 * Starts the server and waits until it accepts connections. If it does not start, throws an Error with the log lines of
 * this start.
 */
export async function runPostgres(cluster: Cluster, settings: Record<string, string>): Promise<PostgresProcess> {
  const { folder, binaries, user } = cluster;
  const logStart = await stat(folder.log).then((s) => s.size, () => 0);
  const log = openSync(folder.log, "a", 0o600);
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const [program, ...rest] = user.wrap([binaries.postgres, "-D", folder.cluster, ...flags]);
  const child = spawn(program, rest, {
    detached: true,
    cwd: folder.cluster,
    env: bareEnvironment(),
    stdio: ["ignore", log, log],
    ...user.ids,
  });
  closeSync(log);
  let running = true;
  const ended = new Promise<string>((settle) => {
    child.once("error", (error) => settle(error.message));
    child.once("exit", (code, signal) => settle(signal ?? `status ${code}`));
  }).finally(() => running = false);
  if (child.pid === undefined) throw new Error(`PostgreSQL did not start: ${await ended}`);

  const watcher = watch(child.pid);
  // Kills the watcher when the server has ended. A later signal of the watcher could reach another process that has got
  // the server's pid.
  void ended.then(() => watcher.kill("SIGKILL"));
  await ready({ pid: child.pid, cluster: folder.cluster, isRunning: () => running }).catch(async (error) => {
    if (running) child.kill("SIGQUIT");
    await ended;
    const printed = (await readFile(folder.log, "utf8")).slice(logStart).trim();
    throw new Error(`PostgreSQL did not start (${(error as Error).message}):\n${printed}`, { cause: error });
  });
  child.unref();
  return { pid: child.pid, port: Number(settings.port), ended, isRunning: () => running };
}

function watch(pid: number): ChildProcess {
  const watcher = spawn("sh", ["-c", WATCH, "berth-postgres-watch", String(pid)], {
    detached: true,
    cwd: "/",
    env: bareEnvironment(),
    stdio: ["pipe", "ignore", "ignore"],
  });
  // Without sh, no watcher runs. If our process is then killed, its next start stops the server.
  watcher.on("error", () => {});
  watcher.unref();
  return watcher;
}

type Starting = { readonly pid: number; readonly cluster: string; isRunning(): boolean };

async function ready({ pid, cluster, isRunning }: Starting): Promise<void> {
  for (let waited_ms = 0; waited_ms < READY_LIMIT_MS; waited_ms += POLL_MS) {
    if (!isRunning()) throw new Error("it ended at once");
    const lines = (await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
    // Line 1 of the file is the pid of the server, line 8 is its state. If a dead server left the file, line 1 is
    // another pid.
    if (Number(lines[0]) === pid && lines[7]?.trim() === "ready") return;
    await new Promise((wake) => setTimeout(wake, POLL_MS));
  }
  throw new Error(`not ready within ${READY_LIMIT_MS / 1_000} s`);
}

/** Returns a free port. Another program may take it before the caller does, so the caller must retry. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((open, fail) => probe.once("error", fail).listen(0, "127.0.0.1", open));
  const address = probe.address();
  await new Promise((closed) => probe.close(closed));
  if (address === null || typeof address === "string") throw new Error("the probe socket has no port");
  return address.port;
}
