// Runs programs in the rack. A program uses the network of a namespace of the rack, or this machine's network. It uses
// the files of the rack's Debian, or this machine's files.
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import process from "node:process";
import { at, DEBIAN, type Space, SPACES } from "./plan.ts";

export type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string };

export type Place = {
  /** The network namespace. Without it, the program uses the network of this machine. */
  readonly space?: Space;
  /** The user in the rack's Debian. Without it, the program runs outside the rack's Debian, on this machine's files. */
  readonly user?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Text for the standard input. */
  readonly input?: string;
};

/** PATH in the rack's Debian. */
const INSIDE_PATH = "/usr/sbin:/usr/bin:/sbin:/bin";
/**
 * Enters the Debian in $1 as the user $2. The mounts are in a namespace that ends together with the program. The
 * program has its own shared memory, so a killed PostgreSQL leaves no shared memory on this machine.
 */
const ENTER = `set -eu
root=$1 user=$2; shift 2
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/dev/shm"
exec chroot --userspec="$user" "$root" "$@"`;

/** Returns the command line that runs a program at a place. */
export function wordsOf(argv: readonly string[], { space, user }: Place): readonly string[] {
  const network = space === undefined ? [] : ["ip", "netns", "exec", SPACES[space]];
  const enter = user === undefined ? [] : ["unshare", "--mount", "sh", "-c", ENTER, "sh", DEBIAN, user];
  return [...network, ...enter, ...argv];
}

function environmentOf({ user, env = {} }: Place): Record<string, string> {
  // From this machine's environment, a program of the rack's Debian gets only the folders in PATH.
  const own = user === undefined
    ? process.env as Record<string, string>
    : { PATH: `${INSIDE_PATH}:${process.env["PATH"] ?? ""}`, HOME: "/root", LANG: "C.UTF-8" };
  return { ...own, ...env };
}

/** Runs a program and returns its output. */
export function run(argv: readonly string[], place: Place = {}): Promise<Ended> {
  const [program = "", ...rest] = wordsOf(argv, place);
  return new Promise((done) => {
    const child = spawn(program, rest, { env: environmentOf(place), stdio: ["pipe", "pipe", "pipe"] });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => stdout += text);
    child.stderr.setEncoding("utf8").on("data", (text: string) => stderr += text);
    child.once("error", (error) => done({ code: -1, stdout, stderr: error.message }));
    child.once("close", (code) => done({ code: code ?? -1, stdout, stderr }));
    // A program may end before it has read its input.
    child.stdin.on("error", () => {});
    child.stdin.end(place.input ?? "");
  });
}

/** Runs a program that must succeed, and returns its standard output. */
export async function must(argv: readonly string[], place: Place = {}): Promise<string> {
  const { code, stdout, stderr } = await run(argv, place);
  if (code !== 0) throw new Error(`${argv.join(" ")} ended with ${code}:\n${stdout}${stderr}`);
  return stdout;
}

const pidFile = (name: string): string => at("pids", name);

/** Starts a daemon whose output goes to log/NAME.log. The daemon continues when this program ends. */
export async function daemon(name: string, argv: readonly string[], place: Place & { space: Space }): Promise<void> {
  for (const folder of ["log", "pids"]) await mkdir(at(folder), { recursive: true });
  const log = openSync(at("log", `${name}.log`), "a");
  const [program = "", ...rest] = wordsOf(argv, place);
  // The daemon has its own session. So Ctrl-C in the terminal reaches only this program, which then ends the daemons.
  const child = spawn(program, rest, { env: environmentOf(place), stdio: ["ignore", log, log], detached: true });
  closeSync(log);
  child.once("error", (error) => console.error(`${name}: ${error.message}`));
  child.unref();
  await writeFile(pidFile(name), String(child.pid));
}

/** Kills a daemon with the processes of its group, at once. */
export async function kill(name: string): Promise<void> {
  process.kill(-Number(await readFile(pidFile(name), "utf8")), "SIGKILL");
}

export function sleep(duration_ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, duration_ms));
}

/** Repeats an action until it returns a value that is not null. Throws an Error after the limit. */
export async function until<T>(
  subject: string,
  limit_ms: number,
  action: () => Promise<T | null>,
  detail: () => Promise<string> = () => Promise.resolve(""),
): Promise<T> {
  const end_ms = performance.now() + limit_ms;
  for (;;) {
    const found = await action();
    if (found !== null) return found;
    if (performance.now() > end_ms) {
      throw new Error(`${subject}: not after ${Math.round(limit_ms / 1_000)} s\n${await detail()}`);
    }
    await sleep(POLL_MS);
  }
}

const POLL_MS = 1_000;
