// Starts the service of an installed systemd unit without systemd: runs the unit's program as the unit's user, with the
// unit's environment.
import { spawn } from "node:child_process";
import { chown, mkdir, readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { START_LIMIT_MS } from "../support/server-process.ts";
import { type DebianRoot, INSIDE_PATH } from "./debian-root.ts";
import { parseUnit } from "./unit.ts";

export type InstalledUnit = {
  /** URL that the program's log shows. */
  readonly url: string;
  readonly user: string;
  /** The server's --allow- options, from /proc. */
  readonly permissions: string;
  log(): string;
  /** Sends SIGTERM and returns the exit code. */
  stop(): Promise<number | NodeJS.Signals>;
};

const LOOK_MS = 100;
const LISTENING = /"message":"listening".*"url":"([^"]+)"/;

/** Starts the unit and waits until the log shows that the program listens. Otherwise throws an Error with the log. */
export async function startUnit(root: DebianRoot, name: string): Promise<InstalledUnit> {
  const unit = parseUnit(await readFile(join(root.path, "usr/lib/systemd/system", name), "utf8"));
  const user = unit.one("User");
  await makeCache(root, user, unit.all("CacheDirectory"));
  const [program, ...argv] = root.wrap(unit.one("ExecStart").split(" "), unit.all("WorkingDirectory")[0], user);
  const child = spawn(program, argv, {
    env: { PATH: INSIDE_PATH, ...await environment(root, unit.all("Environment"), unit.all("EnvironmentFile")) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => log += text);
  let how: number | NodeJS.Signals | null = null;
  const ended = new Promise<number | NodeJS.Signals>((done) =>
    child.once("close", (code, signal) => done(signal ?? code!))
  );
  void ended.then((each) => how = each);
  const limit_at = Date.now() + START_LIMIT_MS;
  while (!LISTENING.test(log)) {
    if (how !== null || Date.now() > limit_at) {
      throw new Error(`${name} does not listen (${how ?? "it runs"}):\n${log}`);
    }
    await new Promise((wake) => setTimeout(wake, LOOK_MS));
  }
  const pid = await serverPid(root);
  const flags = (await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0").filter((word) =>
    word.startsWith("--allow-")
  );
  return {
    url: LISTENING.exec(log)![1]!,
    user,
    permissions: flags.join(" "),
    log: () => log,
    async stop() {
      process.kill(pid, "SIGTERM");
      return await ended;
    },
  };
}

/** Creates the folder that systemd creates for CacheDirectory. */
async function makeCache(root: DebianRoot, user: string, names: readonly string[]): Promise<void> {
  const [, , uid, gid] = (await readFile(join(root.path, "etc/passwd"), "utf8")).split("\n")
    .map((line) => line.split(":")).find(([name]) => name === user)!;
  for (const name of names) {
    const path = join(root.path, "var/cache", name);
    await mkdir(path, { recursive: true, mode: 0o700 });
    await chown(path, Number(uid), Number(gid));
  }
}

async function environment(
  root: DebianRoot,
  own: readonly string[],
  files: readonly string[],
): Promise<Record<string, string>> {
  const texts = await Promise.all(files.map((path) => readFile(join(root.path, path), "utf8")));
  const lines = [...own.flatMap((line) => line.split(" ")), ...texts.flatMap((text) => text.split("\n"))];
  const pairs = lines.filter((line) => /^\w+=/.test(line)).map((line) => [
    line.slice(0, line.indexOf("=")),
    line.slice(line.indexOf("=") + 1),
  ]);
  return Object.fromEntries(pairs);
}

/** Returns the id of a process that runs the root's Deno. */
async function serverPid(root: DebianRoot): Promise<number> {
  for (const name of (await readdir("/proc")).filter((each) => /^\d+$/.test(each))) {
    const program = await readlink(`/proc/${name}/exe`).catch(() => "");
    if (program === join(root.path, "usr/lib/berth/bin/deno")) return Number(name);
  }
  throw new Error("no process runs the Deno of the package");
}
