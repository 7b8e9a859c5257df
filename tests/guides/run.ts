// Runs guides in the way that a reader would: all blocks in one bash session, in a new folder, with the executables in
// the PATH. Background processes of a block run until the end of the guide.
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { present } from "../support/optional-programs.ts";
import { type Block, blocksOf, missingLine } from "./guide.ts";

export type Session = {
  /** The working directory of the session. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** A script that runs before the guide in the same session. */
  readonly before?: string;
  /** Replacements in the text of the guide, mostly of ports, because a test uses free ports. */
  readonly instead?: Readonly<Record<string, string>>;
  /** Returns a command that runs the given command as another user or in a chroot. */
  readonly wrap?: (argv: readonly string[]) => readonly [string, ...string[]];
};

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Returns the value of the variable BERTH in guides: the folder of the control plane's code. */
export function berth(): string {
  return ROOT.replace(/\/$/, "");
}

/**
 * The time limit of a session, so that a guide that waits forever ends with an error. The limit is long enough for a
 * slow machine.
 */
const SESSION_LIMIT_MS = 280_000;
const LOG_CHARS_MAX = 4_000;

/** The programs that a session and nearly every guide need. */
export const SESSION = ["bash", "sed", "grep", "awk"] as const;

/**
 * Runs the blocks of several guides one after the other. Throws an Error with the line and the output of the first
 * failure.
 */
export async function runGuides(names: readonly string[], session: Session): Promise<void> {
  await runBlocks((await Promise.all(names.map((name) => stepsOf(`docs/guides/${name}.md`)))).flat(), session);
}

export type Step = Block & { readonly place: string };

/** Returns the blocks of a document. Throws an Error if it has no block. */
export async function stepsOf(path: string): Promise<Step[]> {
  const blocks = blocksOf(await readFile(join(ROOT, path), "utf8"));
  if (blocks.length === 0) throw new Error(`${path} has nothing to run`);
  return blocks.map((block) => ({ ...block, place: `${path}:${block.line}` }));
}

export async function runBlocks(read: readonly Step[], session: Session): Promise<void> {
  const first = { line: 0, script: session.before ?? ":", shown: null, place: "the script before the guide" };
  const steps = [first, ...read].map((step) => ({ ...step, script: replaced(step.script, session.instead ?? {}) }));
  const mark = randomUUID();
  // The first command that fails ends the session, because a failed command would also stop a reader.
  const head = ["set -euo pipefail", "exec 2>&1"];
  const parts = steps.map(({ script }, index) => `echo; echo "${mark} ${index}"\n${script}`);
  const file = join(session.folder, "guide.sh");
  await writeFile(file, [...head, ...parts, `echo; echo "${mark} end"`, ""].join("\n"));
  const { output, how } = await bash(file, session);
  const outputs = output.split(`\n${mark} `).slice(1).map((part) => part.slice(part.indexOf("\n") + 1));
  const last = steps[outputs.length - 1];
  if (how !== "0" || outputs.length !== steps.length + 1) {
    const lines = [`${last?.place ?? "the session"} ended with ${how}:`, last?.script, "--", outputs.at(-1) ?? output];
    throw new Error([...lines, ...await logsIn(session.folder)].join("\n"));
  }
  for (const [index, { shown, place }] of steps.entries()) {
    const missing = shown === null ? null : missingLine(shown, outputs[index]!);
    if (missing !== null) {
      throw new Error(`${place} shows a line that was not printed:\n${missing}\n--\n${outputs[index]}`);
    }
  }
}

/** Returns the ends of the logs of the guide's background processes. */
async function logsIn(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".log"));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  return names.map((name, index) => `-- ${name}\n${texts[index]!.slice(-LOG_CHARS_MAX)}`);
}

/** Replaces all words in one pass, so that a replacement is not replaced again. */
export function replaced(text: string, instead: Readonly<Record<string, string>>): string {
  const patterns = Object.keys(instead).toSorted((a, b) => b.length - a.length)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return patterns.length === 0 ? text : text.replace(new RegExp(patterns.join("|"), "g"), (word) => instead[word]!);
}

async function bash(file: string, { folder, env, wrap }: Session): Promise<{ output: string; how: string }> {
  const plain = [present("bash"), "--noprofile", "--norc", file];
  const [program, ...argv] = wrap === undefined ? plain : wrap(plain);
  const path = [join(ROOT, "dist"), dirname(process.execPath), process.env.PATH ?? ""].join(":");
  const child = spawn(program!, argv, {
    cwd: folder,
    env: {
      ...inherited(folder),
      ...env,
      PATH: env.PATH === undefined ? path : `${env.PATH}:${path}`,
    },
    // Runs in its own process group, so that the test can kill all its children.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => output += text);
  const closed = new Promise<void>((done) => child.once("close", () => done()));
  const how = await ended(child);
  endGroup(child);
  await closed;
  return { output, how };
}

/**
 * Returns the variables of a session. HOME is the caller's, because it has Deno's cache. The executables save their
 * files in a folder below `folder`.
 */
function inherited(folder: string): Record<string, string> {
  const { HOME = "", DENO_DIR = "" } = process.env;
  const variables = { HOME, XDG_CONFIG_HOME: join(folder, "config"), LANG: "C.UTF-8", NO_COLOR: "1" };
  return DENO_DIR === "" ? variables : { ...variables, DENO_DIR };
}

function ended(child: ChildProcess): Promise<string> {
  return new Promise((done, fail) => {
    const limit = setTimeout(() => done("no end in time"), SESSION_LIMIT_MS);
    child.once("error", fail);
    child.once("exit", (code, signal) => done(String(signal ?? code)));
    child.once("exit", () => clearTimeout(limit));
  });
}

function endGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, "SIGKILL");
  } catch {
    // No process of the group is left.
  }
}
