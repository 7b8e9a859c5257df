// `deno run -A tests/release/built-twice-stress.ts` builds the whole release from two copies of the project in
// different folders. The two releases must be equal in every byte, and every executable must be for its architecture
// and complete. The program needs the network to fetch Bun for the other architecture, unless the cache has it.
// --package NAME (repeatable) limits the packages.
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { ARCHITECTURES } from "../../cli/release/deb.ts";
import { EXECUTABLES, PACKAGES } from "../../cli/release/packages.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { VERSION } from "../../src/version.ts";
import { readDeb } from "./read-deb.ts";
import { releaseKeyIn, ROOT, TIME_S } from "./small-release.ts";
import { pathOf } from "../support/optional-programs.ts";
import { run } from "./tools.ts";

/** Folders that the copies of the project leave out. */
const LEFT_OUT = ["dist", ".berth", ".git"];
/** ELF's field e_machine: its offset, and its value for each architecture. */
const MACHINE_AT = 18;
const MACHINES = { amd64: 0x3e, arm64: 0xb7 } as const;
const ELF_MAGIC = "\x7fELF";
/** Folder of Debian's cross libraries. */
const ARM_LIBRARIES = "/usr/aarch64-linux-gnu";

const { values } = parseArgs({
  options: { package: { type: "string", multiple: true, default: [...PACKAGES] } },
});

const violations: string[] = [];
function check(subject: string, holds: boolean): void {
  console.log(`${holds ? "ok  " : "FAIL"} ${subject}`);
  if (!holds) violations.push(subject);
}

async function build(project: string, out: string, key_path: string): Promise<readonly string[]> {
  const wanted = values.package.flatMap((name) => ["--package", name]);
  const argv = ["run", "-A", join(project, "cli/release/main.ts"), "--key", key_path, "--out", out, ...wanted];
  const webConsole = await run(process.execPath, ["run", "-A", join(project, "console/build.ts")]);
  if (webConsole.code !== 0) throw new Error(`the web console in ${project} was not built:\n${webConsole.stderr}`);
  const { code, stderr } = await run(process.execPath, argv, { SOURCE_DATE_EPOCH: String(TIME_S) });
  if (code !== 0) throw new Error(`the release in ${project} ended with ${code}:\n${stderr}`);
  const entries = await readdir(out, { recursive: true, withFileTypes: true });
  return entries.filter((each) => each.isFile()).map((each) => relative(out, join(each.parentPath, each.name))).sort();
}

async function copyProject(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const name of (await readdir(from)).filter((each) => !LEFT_OUT.includes(each))) {
    await cp(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
  }
  // node_modules is part of the copy, so Deno must not install packages.
  const path = join(to, "deno.json");
  await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, "utf8")), nodeModulesDir: "manual" }));
}

/**
 * Returns the emulator that runs an executable of this architecture, with its arguments. Returns an empty list if none
 * is needed, or null if this machine cannot run the executable.
 */
async function runnerOf(architecture: keyof typeof MACHINES): Promise<readonly string[] | null> {
  if (process.arch === { amd64: "x64", arm64: "arm64" }[architecture]) return [];
  const emulator = architecture === "arm64" ? pathOf("qemu-aarch64-static") : null;
  const hasLibraries = (await run("test", ["-e", `${ARM_LIBRARIES}/lib/ld-linux-aarch64.so.1`])).code === 0;
  return emulator !== null && hasLibraries ? [emulator, "-L", ARM_LIBRARIES] : null;
}

async function checkExecutable(release: string, name: string, architecture: keyof typeof MACHINES): Promise<void> {
  const { data } = readDeb(await readFile(join(release, `${name}_${VERSION}_${architecture}.deb`)));
  const { bytes } = data.get(`usr/bin/${name}`)!;
  const isElf = bytes.toString("latin1", 0, ELF_MAGIC.length) === ELF_MAGIC;
  check(
    `${name} is an executable for ${architecture}`,
    isElf && bytes.readUInt16LE(MACHINE_AT) === MACHINES[architecture],
  );
  const runner = await runnerOf(architecture);
  if (runner === null) return console.log(`not run: this machine cannot run ${name} for ${architecture}`);
  const path = join(release, `${name}-${architecture}`);
  await writeFile(path, bytes, { mode: 0o755 });
  // An executable without its embedded program is a plain bun, and prints the version of bun.
  const [program = "", ...argv] = [...runner, path, name === "index-builder" ? "vendors" : "--version"];
  const { code, stdout } = await run(program, argv);
  check(`${name} for ${architecture} runs`, code === 0 && (name === "index-builder" || stdout.trim() === VERSION));
  const hostile = await run(program, argv, { BUN_BE_BUN: "1", BUN_OPTIONS: "--preload /nowhere.ts" });
  check(`${name} for ${architecture} ignores Bun's variables`, hostile.code === 0 && hostile.stdout === stdout);
}

async function trial(folder: TemporaryFolder): Promise<void> {
  const key_path = await releaseKeyIn(folder.path);
  const [first = "", second = "", here = "", there = ""] = ["first", "second", "here", "some/where/else"]
    .map((name) => join(folder.path, name));
  await copyProject(ROOT, here);
  await copyProject(here, there);
  const names = await build(here, first, key_path);
  const again = await build(there, second, key_path);
  check(`both releases have the same ${names.length} files`, names.join() === again.join());
  for (const name of names) {
    const [one, other] = await Promise.all([first, second].map((release) => readFile(join(release, name))));
    check(`${name} is equal`, one!.equals(other!));
  }
  for (const architecture of ARCHITECTURES) {
    for (const name of EXECUTABLES.filter((each) => values.package.includes(each))) {
      await checkExecutable(first, name, architecture);
    }
  }
}

const folder = await temporaryFolder("built-twice");
try {
  await trial(folder);
} finally {
  await folder.remove();
}
if (violations.length > 0) {
  console.error(`${violations.length} checks failed`);
  process.exit(1);
}
