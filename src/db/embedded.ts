// Runs the PostgreSQL server that Berth includes and uses when DATABASE_URL is unset. Berth starts and stops this
// server, and creates its logins. With DATABASE_URL, the operator does this.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { bareEnvironment } from "./bare-environment.ts";
import { type Cluster, copyBinaries, DATABASE, ensureCluster, SUPERUSER } from "./cluster-init.ts";
import { ensureLogins, OWNER_LOGIN, SERVER_LOGIN, writeHostRules } from "./cluster-logins.ts";
import {
  type DataFolder,
  rotateLog,
  stopByPid,
  stopOrphan,
  takeDataFolder,
  withClusterIn,
  writeSecret,
} from "./data-folder.ts";
import { findBinaries } from "./postgres-binaries.ts";
import { freePort, type PostgresProcess, runPostgres } from "./postgres-process.ts";
import { choosePostgresUser, type PostgresUser } from "./postgres-user.ts";

export type EmbeddedOptions = {
  /** The data folder (data-folder.ts), created if it is missing. One process at a time owns it. */
  readonly dataDir: string;
  /** The TCP port on 127.0.0.1. By default, each start takes a free port. */
  readonly port?: number;
  /** PostgreSQL settings that override ours, for example `{ fsync: "off" }` in tests. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Lets the superuser log in, for tests that create databases and roles. Default: false. */
  readonly superuser?: boolean;
  /** Receives messages for the operator, one line each. Default: standard error. */
  readonly note?: (line: string) => void;
};

export type EmbeddedPostgres = {
  /**
   * URL of the control plane's login. It contains the password: never log it. The file `url` contains the same text.
   */
  readonly url: string;
  /**
   * URL of the login that owns the database and its tables, for migrations. The file `owner-url` contains the same
   * text.
   */
  readonly ownerUrl: string;
  /** The URL of the superuser; null unless the options let the superuser log in. */
  readonly superuserUrl: string | null;
  readonly pid: number;
  /** Resolves when the server has ended for any reason, with a description of the end. */
  readonly ended: Promise<string>;
  /**
   * Stops the server with a fast shutdown: it rolls back open transactions, disconnects clients and flushes files.
   * Later calls return the same promise.
   */
  stop(): Promise<void>;
};

const START_TRIES_MAX = 5;
const RETRY_MS = 200;
const SETTINGS = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  deadlock_timeout: "200ms", // Set here, because only a superuser may set it for a session.
  timezone: "UTC",
  log_timezone: "UTC",
} as const;

/** The parent folder of PostgreSQL's files when the user that runs PostgreSQL cannot enter the data folder. */
export const SHARED_FOLDER = "/var/lib/berth";

/** Starts the server; the first start creates its files. Throws an Error if the server cannot start. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const folder = await takeDataFolder(options.dataDir);
  try {
    const durable = options.settings?.fsync !== "off";
    const cluster = await settle({ folder, durable, user: await choosePostgresUser() }, options);
    await stopOrphan(cluster.folder.cluster);
    await rotateLog(folder.log);
    const password = await ensureCluster(cluster);
    const logins = await ensureLogins(cluster);
    const hba_file = await writeHostRules(cluster, options.superuser === true);
    const server = await startWithRetry(cluster, { ...options, settings: { ...options.settings, hba_file } });
    const urlOf = (user: string, secret: string) => `postgres://${user}:${secret}@127.0.0.1:${server.port}/${DATABASE}`;
    const [url, ownerUrl] = [urlOf(SERVER_LOGIN, logins.server), urlOf(OWNER_LOGIN, logins.owner)];
    await writeSecret(folder.url, url);
    await writeSecret(folder.ownerUrl, ownerUrl);
    const superuserUrl = options.superuser === true ? urlOf(SUPERUSER, password) : null;
    return { url, ownerUrl, superuserUrl, pid: server.pid, ended: server.ended, stop: stopOnce(server, folder) };
  } catch (error) {
    folder.release();
    throw error;
  }
}

/**
 * Chooses the folders of PostgreSQL's files and programs. The PostgreSQL user can enter these folders and run the
 * programs.
 */
async function settle(
  { folder, durable, user }: { folder: DataFolder; durable: boolean; user: PostgresUser },
  options: EmbeddedOptions,
): Promise<Cluster> {
  const binaries = findBinaries();
  const placed = await placeOf(folder, user, options);
  const readable = user.seesOurFiles || await canRun(user, [binaries.postgres, "--version"]);
  return {
    folder: placed,
    binaries: readable ? binaries : await copyBinaries(binaries, dirname(placed.cluster)),
    user,
    durable,
  };
}

async function placeOf(
  folder: DataFolder,
  user: PostgresUser,
  { note = (line) => console.error(line) }: EmbeddedOptions,
): Promise<DataFolder> {
  // A folder that was chosen once is kept, even if the data folder has become accessible. A switch to a new, empty
  // database would look like data loss.
  const chosen = await readFile(folder.place, "utf8").catch(() => "");
  if (chosen === "" && (user.seesOurFiles || await canEnter(user, dirname(folder.path)))) return folder;
  const place = chosen || join(SHARED_FOLDER, createHash("sha256").update(folder.path).digest("hex").slice(0, 12));
  await mkdir(place, { recursive: true, mode: 0o711 });
  await writeFile(folder.place, place, { mode: 0o600 });
  note(`PostgreSQL runs as ${user.name} and keeps the files of ${folder.path} in ${place}.`);
  return withClusterIn(folder, place);
}

const canEnter = (user: PostgresUser, path: string) => canRun(user, ["sh", "-c", 'cd "$0"', path]);

async function canRun(user: PostgresUser, argv: readonly string[]): Promise<boolean> {
  const [program, ...rest] = user.wrap(argv);
  try {
    await promisify(execFile)(program, rest, { cwd: "/", env: bareEnvironment(), ...user.ids });
    return true;
  } catch {
    return false; // Not found, not executable, or a non-zero exit status: the user cannot run it.
  }
}

/**
 * Starts the server and retries two temporary failures: another program took the free port, or processes of a killed
 * server still use its shared memory.
 */
async function startWithRetry(cluster: Cluster, options: EmbeddedOptions): Promise<PostgresProcess> {
  for (let tries = 1;; tries++) {
    const port = options.port ?? await freePort();
    try {
      return await runPostgres(cluster, { ...SETTINGS, ...options.settings, port: String(port) });
    } catch (error) {
      const passing = /Address already in use|shared memory block .{0,100} is still in use/.test(
        (error as Error).message,
      );
      if (!passing || tries === START_TRIES_MAX) throw error;
      await new Promise((wake) => setTimeout(wake, RETRY_MS * tries));
    }
  }
}

function stopOnce(server: PostgresProcess, folder: DataFolder): () => Promise<void> {
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    if (server.isRunning() && !await stopByPid(server.pid)) {
      throw new Error(`The database server (pid ${server.pid}) does not stop. Its data is in ${folder.path}.`);
    }
    await server.ended;
    for (const path of [folder.url, folder.ownerUrl]) await rm(path, { force: true });
    folder.release();
  };
  return () => stopping ??= stop();
}
