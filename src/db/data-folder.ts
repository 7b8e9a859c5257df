// Manages the folder of an embedded PostgreSQL server. One process owns the folder: it holds a file lock, which the
// kernel releases when the process ends. If a PostgreSQL server is still running after its owner ended, the next owner
// stops that server and then starts a new one.
//
//   owner.lock     the lock; contains the owner's pid, for operators
//   url            connection URL for the control plane, mode 0600; deleted when the server stops
//   owner-url      connection URL for the owner of the tables, for migrations and pg_dump; deleted with url
//   logins         the passwords of the two logins in url and owner-url, mode 0600
//   password       the superuser password that initdb requires, mode 0600; a running server rejects the superuser
//   postgres.log   the server's output
//   pg/            PostgreSQL's own files
//   place          path of the folder that contains pg/ when the PostgreSQL user cannot enter this folder
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { bareEnvironment } from "./bare-environment.ts";

export type DataFolder = {
  readonly path: string;
  readonly cluster: string;
  readonly log: string;
  readonly password: string;
  readonly logins: string;
  readonly url: string;
  readonly ownerUrl: string;
  readonly place: string;
  /** Releases the lock. */
  release(): void;
};

const LOG_BYTES_MAX = 10_000_000;
const FAST_STOP_MS = 30_000;
const QUIT_MS = 5_000;
const POLL_MS = 20;

/**
 * Locks the folder and creates it if it is missing. Throws an Error with the owner's pid if another process holds the
 * lock.
 */
export async function takeDataFolder(dataDir: string): Promise<DataFolder> {
  const path = resolve(dataDir);
  await mkdir(path, { recursive: true, mode: 0o700 });
  const lockPath = join(path, "owner.lock");
  const lock = await Deno.open(lockPath, { read: true, write: true, create: true, mode: 0o600 });
  if (!await lock.tryLock(true)) {
    lock.close();
    const owner = (await readFile(lockPath, "utf8")).trim() || "unknown";
    throw new Error(
      `Another process (pid ${owner}) runs the database in ${path}. Stop it, choose another BERTH_DATA_DIR, ` +
        `or share its server: DATABASE_URL="$(cat ${join(path, "url")})" and ` +
        `BERTH_OWNER_DATABASE_URL="$(cat ${join(path, "owner-url")})".`,
    );
  }
  await lock.truncate();
  await lock.write(new TextEncoder().encode(`${process.pid}\n`));
  return folderAt(path, path, () => lock.close());
}

/** Returns the same folder, but with pg/ inside the directory `place`. */
export function withClusterIn(folder: DataFolder, place: string): DataFolder {
  return folderAt(folder.path, place, folder.release);
}

function folderAt(path: string, clusterPlace: string, release: () => void): DataFolder {
  return {
    path,
    cluster: join(clusterPlace, "pg"),
    log: join(path, "postgres.log"),
    password: join(path, "password"),
    logins: join(path, "logins"),
    url: join(path, "url"),
    ownerUrl: join(path, "owner-url"),
    place: join(path, "place"),
    release,
  };
}

export async function exists(path: string): Promise<boolean> {
  return await stat(path).then(() => true, () => false);
}

export async function writeSecret(path: string, secret: string): Promise<void> {
  await rm(path, { force: true });
  await writeFile(path, secret, { mode: 0o600, flag: "wx" });
  await chmod(path, 0o600);
}

/**
 * If the log is larger than LOG_BYTES_MAX, renames it to `<log>.1` and replaces the previous `<log>.1`. Recent errors
 * stay available, and the disk does not fill up.
 */
export async function rotateLog(log: string): Promise<void> {
  const size_bytes = await stat(log).then((s) => s.size, () => 0);
  if (size_bytes > LOG_BYTES_MAX) await rename(log, `${log}.1`);
}

/** Stops a PostgreSQL server of this cluster that is still running although the process that started it has ended. */
export async function stopOrphan(cluster: string): Promise<void> {
  const pidFile = join(cluster, "postmaster.pid");
  const pid = Number((await readFile(pidFile, "utf8").catch(() => "")).split("\n")[0]);
  if (!(pid > 0) || !isAlive(pid)) return;
  if (!commandLine(pid).includes(cluster)) {
    // Another program has the pid now, for example after a reboot. If the file stayed, PostgreSQL would refuse to
    // start.
    await rm(pidFile, { force: true });
    return;
  }
  if (!await stopByPid(pid)) {
    throw new Error(
      `A PostgreSQL server without an owner (pid ${pid}) runs in ${cluster} and does not stop. Stop it by hand.`,
    );
  }
}

/**
 * Requests PostgreSQL's fast shutdown (SIGINT), then its immediate shutdown (SIGQUIT). Returns false if the process
 * survives both.
 */
export async function stopByPid(pid: number): Promise<boolean> {
  signal(pid, "SIGINT");
  if (await isGone(pid, FAST_STOP_MS)) return true;
  signal(pid, "SIGQUIT");
  return await isGone(pid, QUIT_MS);
}

async function isGone(pid: number, limit_ms: number): Promise<boolean> {
  for (let waited_ms = 0; waited_ms < limit_ms; waited_ms += POLL_MS) {
    if (!isAlive(pid)) return true;
    await new Promise((wake) => setTimeout(wake, POLL_MS));
  }
  return !isAlive(pid);
}

function signal(pid: number, name: "SIGINT" | "SIGQUIT"): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (isNotCapable(error)) return void shell('kill -s "$2" "$1"', pid, name.slice("SIG".length));
    if ((error as { code?: string }).code !== "ESRCH") throw error; // ESRCH: the process has ended already.
  }
}

/**
 * Returns whether Deno denied the operation. Deno allows signals only with an unrestricted --allow-run, and /proc only
 * with all permissions. If Deno denies an operation, the shell does it, because the shell is in the list of allowed
 * programs.
 */
function isNotCapable(error: unknown): boolean {
  return (error as Error).name === "NotCapable";
}

/** Runs a shell command with the pid as $1. Returns its output; null when the command fails. */
function shell(command: string, pid: number, ...more: readonly string[]): string | null {
  try {
    return execFileSync("sh", ["-c", command, "sh", String(pid), ...more], {
      encoding: "utf8",
      env: bareEnvironment(),
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch {
    return null; // Usually the process has ended in the meantime.
  }
}

const IS_ALIVE = `kill -0 "$1" && ! grep -q '^State:[[:space:]]*Z' "/proc/$1/status"`;
const COMMAND_LINE = `cat "/proc/$1/cmdline" 2>/dev/null || ps -ww -o command= -p "$1"`;

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (isNotCapable(error)) return shell(IS_ALIVE, pid) !== null;
    return (error as { code?: string }).code === "EPERM";
  }
  return !isZombie(pid);
}

/**
 * Returns whether a process has ended but its parent has not read its exit status yet. Signal 0 to it still succeeds.
 */
function isZombie(pid: number): boolean {
  try {
    return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false; // This system has no /proc, or the process has ended.
  }
}

function commandLine(pid: number): string {
  return shell(COMMAND_LINE, pid) ?? "";
}
