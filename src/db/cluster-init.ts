// Creates PostgreSQL's data directory. The directory gets its final name only when it is complete. Therefore a start
// after a crash does not mistake an incomplete directory for a database.
import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, chown, copyFile, link, mkdir, readdir, readFile, readlink, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { bareEnvironment } from "./bare-environment.ts";
import { type DataFolder, exists, writeSecret } from "./data-folder.ts";
import { binariesIn, type PostgresBinaries } from "./postgres-binaries.ts";
import type { PostgresUser } from "./postgres-user.ts";

const execFileAsync = promisify(execFile);

export const SUPERUSER = "berth";
export const DATABASE = "berth";
const PASSWORD_BYTES = 24;

export type Cluster = {
  readonly folder: DataFolder;
  readonly binaries: PostgresBinaries;
  readonly user: PostgresUser;
  /** Whether files are flushed to disk. False only in tests. */
  readonly durable: boolean;
};

/**
 * Creates the cluster if it is missing; otherwise checks that its major version is the version of our PostgreSQL
 * programs. Returns the superuser's password.
 */
export async function ensureCluster(made: Cluster): Promise<string> {
  const { folder, binaries, user } = made;
  const place = dirname(folder.cluster);
  if (user.owner !== null) {
    await mkdir(place, { recursive: true });
    if (!user.seesOurFiles) await chmod(place, 0o711); // Other users may enter the directory but not list it.
  }
  if (!await exists(folder.cluster)) return await initCluster(made);

  const disk = (await readFile(join(folder.cluster, "PG_VERSION"), "utf8")).trim();
  const program = binaries.version.split(".")[0];
  if (disk !== program) {
    throw new Error(
      `${folder.cluster} was created by PostgreSQL ${disk}, and this build includes ${program}. Start it with the ` +
        `build that created it, dump it with pg_dump and the address in ${folder.ownerUrl}, and restore the dump into ` +
        'a new BERTH_DATA_DIR (docs/guides/backup.md, "The embedded PostgreSQL").',
    );
  }
  await ownBy(user, folder.cluster);
  const password = await readFile(folder.password, "utf8").catch(() => "");
  if (password === "") {
    throw new Error(
      `The file ${folder.password} is missing, so the database in ${folder.cluster} cannot be opened. Restore this file ` +
        "from a backup.",
    );
  }
  return password;
}

async function initCluster({ folder, binaries, user, durable }: Cluster): Promise<string> {
  const growing = `${folder.cluster}.new`;
  const handed = `${folder.cluster}.password`;
  const password = randomBytes(PASSWORD_BYTES).toString("base64url");
  try {
    await rm(growing, { recursive: true, force: true });
    await mkdir(growing, { mode: 0o700 });
    await ownBy(user, growing);
    // Passes the password in a file, because other users can read a process's arguments.
    await writeSecret(handed, password);
    await ownBy(user, handed);
    const argv = [
      ...[binaries.initdb, `--pgdata=${growing}`, `--username=${SUPERUSER}`, `--pwfile=${handed}`],
      ...[
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        "--locale=C",
      ],
      ...["--no-instructions", ...(durable ? [] : ["--no-sync"])],
    ];
    const [program, ...rest] = user.wrap(argv);
    await execFileAsync(program, rest, { cwd: dirname(folder.cluster), env: bareEnvironment(), ...user.ids });
    await inSingleUserMode({ folder, binaries, user, durable }, {
      pgdata: growing,
      database: "postgres",
      statements: [`create database ${DATABASE}`],
    });
    await writeSecret(folder.password, password);
    // Removes the logins that a previous, deleted cluster left in the folder.
    await rm(folder.logins, { force: true });
    await rename(growing, folder.cluster);
    return password;
  } catch (error) {
    const detail = String((error as { stderr?: unknown }).stderr ?? "").trim();
    throw new Error(
      `PostgreSQL could not create its files in ${folder.cluster}: ${detail || (error as Error).message}`,
      {
        cause: error,
      },
    );
  } finally {
    await rm(handed, { force: true });
  }
}

export type SingleUserRun = {
  readonly pgdata: string;
  readonly database: string;
  /** SQL statements, each without a final semicolon. Line breaks are replaced by spaces. */
  readonly statements: readonly string[];
};

/**
 * Runs statements as the superuser while no server runs. No client can connect during this time, and the superuser
 * needs no login. Throws an Error with PostgreSQL's message.
 */
export function inSingleUserMode({ folder, binaries, user, durable }: Cluster, run: SingleUserRun): Promise<void> {
  const [program, ...rest] = user.wrap([
    ...[binaries.postgres, "--single", "-D", run.pgdata, "-c", `fsync=${durable ? "on" : "off"}`],
    // Keeps failed statements out of the log, because they may contain a password.
    ...["-c", "log_min_error_statement=panic", run.database],
  ]);
  const child = spawn(program, rest, {
    cwd: dirname(folder.cluster),
    env: bareEnvironment(),
    stdio: ["pipe", "ignore", "pipe"],
    ...user.ids,
  });
  let printed = "";
  child.stderr.on("data", (chunk) => printed += chunk);
  child.stdin.on("error", () => {}); // The process ended early; its close event has the reason.
  child.stdin.end(run.statements.map((each) => `${each.replace(/\s+/g, " ").trim()};\n`).join(""));
  return new Promise((done, fail) => {
    child.on("error", fail);
    // Single-user mode exits with 0 even when a statement fails; only its output shows the failure.
    child.on("close", (code) => {
      if (code === 0 && !/\b(ERROR|FATAL|PANIC):/.test(printed)) done();
      else fail(new Error(printed.trim() || `postgres --single ended with ${code}`));
    });
  });
}

/** Changes the owner of the path to the user that will run the server, if another user owns it. */
export async function ownBy(user: PostgresUser, path: string): Promise<void> {
  if (user.owner === null) return;
  const { uid, gid } = user.owner;
  const now = await stat(path);
  if (now.uid === uid) return;
  if (now.isDirectory()) await execFileAsync("chown", ["-R", `${uid}:${gid}`, path], { env: bareEnvironment() });
  else await chown(path, uid, gid);
}

/**
 * Copies the PostgreSQL programs to a folder that the PostgreSQL user can read, unless the copies exist. Returns the
 * paths of the copies.
 */
export async function copyBinaries(binaries: PostgresBinaries, place: string): Promise<PostgresBinaries> {
  const copy = join(place, `postgres-${binaries.version}`);
  if (!await exists(copy)) {
    const growing = `${copy}.new`;
    await rm(growing, { recursive: true, force: true });
    await copyFolder(binaries.root, growing);
    await rename(growing, copy);
  }
  return binariesIn(copy, binaries.version);
}

/**
 * Copies a folder. Its symbolic links must point to files in the same folder. The copy has hard links instead, because
 * Deno creates symbolic links only with all permissions. Node's `cp` cannot be used: it would read the parents of the
 * folder, which start.ts may not read (src/permissions.ts).
 */
async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o755 });
  const entries = await readdir(from, { withFileTypes: true });
  for (const each of entries) {
    if (each.isDirectory()) await copyFolder(join(from, each.name), join(to, each.name));
    else if (each.isFile()) await copyFile(join(from, each.name), join(to, each.name));
  }
  for (const each of entries.filter((each) => each.isSymbolicLink())) {
    await link(join(to, await readlink(join(from, each.name))), join(to, each.name));
  }
}
