// Runs the compiled programs. Tests call buildExecutables first, which builds the programs if a source is newer.
import { spawn } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { NAMES } from "../../cli/compile.ts";

export type Ended = { readonly code: number | NodeJS.Signals; readonly out: string; readonly err: string };

export type Running = {
  /** Sends a signal. Has no effect after the process has ended. */
  signal(name: NodeJS.Signals): void;
  readonly ended: Promise<Ended>;
  /** Returns the output on stdout and stderr so far. */
  said(): string;
  /** Resolves with the first match in the output. Rejects if the process ends first, or after SAY_LIMIT_MS. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
};

export type RunOptions = {
  /** The program's whole environment except PATH. */
  readonly env?: Readonly<Record<string, string>>;
  /** The program's working directory. Default: the working directory of the test. */
  readonly cwd?: string;
  readonly typed?: string;
  /** A command that starts the program, such as [ip, netns, exec, NAME]. */
  readonly prefix?: readonly string[];
  /** A file to start instead of the program of this name. */
  readonly file?: string;
};

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PROGRAMS = ["opsctl", "nodeagent", "booter", "tenantctl"] as const;
const SOURCES = ["cli", "booter", "index-builder", "nodeagent", "src/contract", "src/outbound", "src/lib"];
const SAY_LIMIT_MS = 20_000;

/** The compiled programs of the project. */
export type Program = (typeof NAMES)[number];

/** Builds all programs unless the wanted programs are newer than every source. */
export async function buildExecutables(wanted: readonly Program[] = PROGRAMS): Promise<void> {
  const built = await Promise.all(wanted.map((name) => modified_ms(join(ROOT, "dist", name))));
  const sources = (await Promise.all(SOURCES.map(newest_ms))).reduce((a, b) => Math.max(a, b));
  if (Math.min(...built) > sources) return;
  const build = spawn(process.execPath, ["run", "-A", "cli/compile.ts"], { cwd: ROOT, stdio: "ignore" });
  const code = await new Promise((done) => build.once("close", done));
  if (code !== 0) throw new Error(`cli/compile.ts ended with ${code}`);
}

async function newest_ms(folder: string): Promise<number> {
  const names = await readdir(join(ROOT, folder), { recursive: true });
  const times = await Promise.all(names.map((name) => modified_ms(join(ROOT, folder, name))));
  return times.reduce((a, b) => Math.max(a, b), 0);
}

function modified_ms(path: string): Promise<number> {
  return stat(path).then(({ mtimeMs }) => mtimeMs, () => 0);
}

export function executable(name: Program): string {
  return join(ROOT, "dist", name);
}

export function start(name: Program, argv: readonly string[], options: RunOptions = {}): Running {
  const { env = {}, cwd, typed, prefix = [], file = executable(name) } = options;
  const [program = "", ...rest] = [...prefix, file, ...argv];
  const child = spawn(program, rest, {
    cwd,
    env: { PATH: process.env.PATH ?? "", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.on("error", () => {}); // The program may end without reading its input.
  child.stdin.end(typed ?? "");
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => out += text);
  child.stderr.setEncoding("utf8").on("data", (text: string) => err += text);
  let running = true;
  const ended = new Promise<Ended>((done, fail) => {
    child.once("error", fail);
    child.once("close", (code, signal) => done({ code: signal ?? code ?? 0, out, err }));
  }).finally(() => running = false);
  const said = () => out + err;
  return {
    // child.kill is not used: Deno would then report the signal instead of the exit code, and would not send a second
    // signal.
    signal: (name) => void (running && process.kill(child.pid!, name)),
    ended,
    said,
    says: (pattern) => untilSaid(said, pattern, ended),
  };
}

async function untilSaid(said: () => string, pattern: RegExp, ended: Promise<Ended>): Promise<RegExpExecArray> {
  let over = false;
  void ended.then(() => over = true);
  for (const end = Date.now() + SAY_LIMIT_MS; Date.now() < end;) {
    const was_over = over;
    const found = pattern.exec(said());
    if (found !== null) return found;
    if (was_over) break;
    await new Promise((wake) => setTimeout(wake, 10));
  }
  throw new Error(`the program did not print ${pattern}:\n${said()}`);
}

/** Runs a program and waits until it ends. */
export function run(name: Program, argv: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return start(name, argv, options).ended;
}
