// The folder of an embedded server. One process owns it, by a lock that the kernel drops when that process ends, however
// it ends. A server found running in it therefore has no owner, and is stopped before a new one starts.
//
//   owner.lock     the lock; the owner's pid inside, for people
//   url            how the control plane reaches the server, 0600, only while it runs
//   owner-url      the same for the owner of the tables: migrations, and dumps by pg_dump
//   logins         the passwords of both, 0600
//   password       the password of PostgreSQL's superuser, 0600: nothing logs in as it
//   postgres.log   what the server prints
//   pg/            PostgreSQL's own files
//   place          where pg/ is instead, when the user that runs PostgreSQL cannot enter this folder
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
  /** Gives the folder up. */
  release(): void;
};

const LOG_BYTES_MAX = 10_000_000;
const FAST_STOP_MS = 30_000;
const QUIT_MS = 5_000;
const POLL_MS = 20;

/** Takes the folder, making it when it is missing. Throws an Error naming the owner when another process has it. */
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

/** The same folder with PostgreSQL's own files elsewhere. */
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

/** Keeps one older log, so that the newest trouble is always there and the disk never fills. */
export async function rotateLog(log: string): Promise<void> {
  const size_bytes = await stat(log).then((s) => s.size, () => 0);
  if (size_bytes > LOG_BYTES_MAX) await rename(log, `${log}.1`);
}

/** Stops a server that a dead owner left behind in this cluster. */
export async function stopOrphan(cluster: string): Promise<void> {
  const pidFile = join(cluster, "postmaster.pid");
  const pid = Number((await readFile(pidFile, "utf8").catch(() => "")).split("\n")[0]);
  if (!(pid > 0) || !isAlive(pid)) return;
  if (!commandLine(pid).includes(cluster)) {
    // The number belongs to another program now (a reboot, say); PostgreSQL would take it for a running server.
    await rm(pidFile, { force: true });
    return;
  }
  if (!await stopByPid(pid)) {
    throw new Error(
      `A PostgreSQL server without an owner (pid ${pid}) runs in ${cluster} and does not stop. Stop it by hand.`,
    );
  }
}

/** Fast stop, then an immediate one. False when the process outlives both. */
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
    if ((error as { code?: string }).code !== "ESRCH") throw error; // ESRCH: it ended by itself, as wished.
  }
}

/** Deno allows signals and /proc to a process that may start every program; one with a list asks a shell of that list. */
function isNotCapable(error: unknown): boolean {
  return (error as Error).name === "NotCapable";
}

/** What the shell prints for the process as $1; null when the command fails. */
function shell(command: string, pid: number, ...more: readonly string[]): string | null {
  try {
    return execFileSync("sh", ["-c", command, "sh", String(pid), ...more], {
      encoding: "utf8",
      env: bareEnvironment(),
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch {
    return null; // It ended while we looked.
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

/** A process whose parent has not asked for its status answers signal 0, but runs no more. */
function isZombie(pid: number): boolean {
  try {
    return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false; // No /proc on this system.
  }
}

function commandLine(pid: number): string {
  return shell(COMMAND_LINE, pid) ?? "";
}
