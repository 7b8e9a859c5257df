// Runs guides as a reader would: all blocks in one bash session, in a folder of its own, with the executables on PATH.
// What a block leaves running goes on until the guide is through, and ends with it.
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { present } from "../support/optional-programs.ts";
import { type Block, blocksOf, missingLine } from "./guide.ts";

export type Session = {
  /** Where the session starts. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** What the reader has done before, in the same session. */
  readonly before?: string;
  /** In place of what the guide says: ports, mostly, since a test takes free ones. */
  readonly instead?: Readonly<Record<string, string>>;
  /** As whom: the command line that runs another one as an ordinary user. */
  readonly wrap?: (argv: readonly string[]) => readonly [string, ...string[]];
};

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** What guides call BERTH: where the control plane is. */
export function berth(): string {
  return ROOT.replace(/\/$/, "");
}

/** For a slow machine; a guide that waits for what never comes must end with words. */
const SESSION_LIMIT_MS = 280_000;
const LOG_CHARS_MAX = 4_000;

/** What a session itself needs, and what nearly every guide uses. */
export const SESSION = ["bash", "sed", "grep", "awk"] as const;

/** The blocks of guides, read one after the other. Throws an Error with the line and the output of what does not hold. */
export async function runGuides(names: readonly string[], session: Session): Promise<void> {
  await runBlocks((await Promise.all(names.map((name) => stepsOf(`docs/guides/${name}.md`)))).flat(), session);
}

export type Step = Block & { readonly place: string };

/** The blocks of a paper of the project. Throws an Error when it has none. */
export async function stepsOf(path: string): Promise<Step[]> {
  const blocks = blocksOf(await readFile(join(ROOT, path), "utf8"));
  if (blocks.length === 0) throw new Error(`${path} has nothing to run`);
  return blocks.map((block) => ({ ...block, place: `${path}:${block.line}` }));
}

export async function runBlocks(read: readonly Step[], session: Session): Promise<void> {
  const first = { line: 0, script: session.before ?? ":", shown: null, place: "what comes before" };
  const steps = [first, ...read].map((step) => ({ ...step, script: replaced(step.script, session.instead ?? {}) }));
  const mark = randomUUID();
  // An error of any command ends the session, as it would stop a reader.
  const head = ["set -euo pipefail", "exec 2>&1"];
  const parts = steps.map(({ script }, index) => `echo; echo "${mark} ${index}"\n${script}`);
  const file = join(session.folder, "guide.sh");
  await writeFile(file, [...head, ...parts, `echo; echo "${mark} end"`, ""].join("\n"));
  const { output, how } = await bash(file, session);
  const said = output.split(`\n${mark} `).slice(1).map((part) => part.slice(part.indexOf("\n") + 1));
  const last = steps[said.length - 1];
  if (how !== "0" || said.length !== steps.length + 1) {
    const told = [`${last?.place ?? "the session"} ended with ${how}:`, last?.script, "--", said.at(-1) ?? output];
    throw new Error([...told, ...await logsIn(session.folder)].join("\n"));
  }
  for (const [index, { shown, place }] of steps.entries()) {
    const missing = shown === null ? null : missingLine(shown, said[index]!);
    if (missing !== null) {
      throw new Error(`${place} shows a line that was not printed:\n${missing}\n--\n${said[index]}`);
    }
  }
}

/** What the programs wrote that the guide left running. */
async function logsIn(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".log"));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  return names.map((name, index) => `-- ${name}\n${texts[index]!.slice(-LOG_CHARS_MAX)}`);
}

/** Every word at once, so that what stands in place of one is not taken for another. */
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
    // A group of its own, so that whatever it started can be ended with it.
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

/** The home stays, since Deno's cache is there; what the executables save goes into the folder. */
function inherited(folder: string): Record<string, string> {
  const { HOME = "", DENO_DIR = "" } = process.env;
  const argv = { HOME, XDG_CONFIG_HOME: join(folder, "config"), LANG: "C.UTF-8", NO_COLOR: "1" };
  return DENO_DIR === "" ? argv : { ...argv, DENO_DIR };
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
    // Nothing was left.
  }
}
