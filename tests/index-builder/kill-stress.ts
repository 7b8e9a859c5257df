// Uses strace to interrupt a publication at every system call that changes the disk: kills the program or simulates a
// full disk. After each interruption, the site must equal the tree before or after the publication, byte for byte, and
// the next run must complete. `deno run -A tests/index-builder/kill-stress.ts [PROGRAM...]`: PROGRAM defaults to this
// checkout under Deno. The test fails if it has not interrupted each kind of call in NEEDED.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { readTrust, siteAt } from "../../index-builder/publish/site.ts";
import { readFiles } from "../../index-builder/tree/load.ts";
import { TrustState } from "../../index-builder/signatures/trust.ts";
import { webFolder } from "./recorded-vendor.ts";

const MAIN = fileURLToPath(new URL("../../index-builder/main.ts", import.meta.url));
const PROGRAM = process.argv.length > 2 ? process.argv.slice(2) : [process.execPath, "run", "-A", MAIN];
/** The system calls to interrupt. strace counts calls per thread, so one number can hit several calls of a run. */
const CALLS = [
  "rename",
  "renameat",
  "renameat2",
  "symlink",
  "symlinkat",
  "link",
  "linkat",
  "fsync",
  "fdatasync",
  "mkdir",
  "mkdirat",
  "unlink",
  "unlinkat",
  "rmdir",
  "pwrite64",
  "write",
];
/** Each publication makes calls of each kind. The libraries choose between fsync and fdatasync. */
const NEEDED = ["rename", "symlink", "fsync|fdatasync", "mkdir", "write"];
const FAULTS = ["signal=KILL", "error=ENOSPC"];
/** The limit of the loop. It is larger than the number of calls of one kind in a run. */
const WHEN_MAX = 400;
/** strace writes one of these texts for a call at which it caused the fault. */
const CAUSED = /\(INJECTED\)|killed by SIGKILL/;

const T0 = ["--recorded", webFolder("t0"), "--vendor", "debian", "--at", "2026-10-09T05:17:00Z"];
/** The same vendor with more images, for a different tree. */
const T1 = ["--recorded", webFolder("wide/debian"), ...T0];

const folder = mkdtempSync(join(tmpdir(), "kill-stress-"));
const log = join(folder, "strace.log");
let tried = 0;
/** The number of faults that were caused, by call and fault. */
const caused = new Map<string, number>();
const broken: string[] = [];
try {
  const before = await publishedBy("before", T0);
  const after = await publishedBy("after", T1);
  if (before === after) throw new Error("both recordings give the same tree, so the test would prove nothing");
  for (const fault of FAULTS) for (const call of CALLS) await everyMoment(call, fault, { before, after });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
for (const fault of FAULTS) {
  for (const call of NEEDED) {
    const matches = new RegExp(`^(?:${call})\\w* ${fault}$`);
    if (![...caused.keys()].some((each) => matches.test(each))) broken.push(`${fault} hit no call ${call}`);
  }
}
for (const [what, count] of caused) console.log(`${what.padEnd(30)} ${count}`);
console.log(`${tried} publications, ${broken.length} problems`);
for (const line of broken) console.log(line);
process.exit(broken.length === 0 ? 0 : 1);

async function publishedBy(name: string, argv: readonly string[]): Promise<string> {
  const site = join(folder, name);
  const ended = run(["all", "--site", site, ...argv], []);
  if (ended !== 0) throw new Error(`the publication ${name} without a fault ended with ${ended}`);
  return await contentOf(site);
}

async function everyMoment(call: string, fault: string, trees: { before: string; after: string }): Promise<void> {
  for (let when = 1; when <= WHEN_MAX; when++) {
    const site = join(folder, `${tried++}`);
    copySite(join(folder, "before"), site);
    run(["all", "--site", site, ...T1], [
      "strace",
      "-f",
      "-qq",
      "-o",
      log,
      "-e",
      `trace=${call}`,
      "-e",
      `inject=${call}:${fault}:when=${when}`,
    ]);
    const found = await contentOf(site).catch((error) => String(error));
    const at = `${call} ${fault} when=${when}`;
    if (found !== trees.before && found !== trees.after) {
      broken.push(`${at}: the site is neither tree: ${found.slice(0, 200)}`);
    }
    const next = run(["all", "--site", site, ...T1], []);
    if (next !== 0 || await contentOf(site) !== trees.after) broken.push(`${at}: the next run ended with ${next}`);
    const left = readdirSync(siteAt(site).generations).filter((name) => name.endsWith(".draft"));
    if (left.length > 0) broken.push(`${at}: ${left.join(", ")} left behind`);
    rmSync(site, { force: true });
    rmSync(siteAt(site).generations, { recursive: true, force: true });
    // Without a fault in the log, the run had fewer than `when` calls of this kind. The exit code does not show this: a
    // program may survive an error.
    if (!CAUSED.test(readFileSync(log, "utf8"))) return;
    const what = `${call} ${fault}`;
    caused.set(what, (caused.get(what) ?? 0) + 1);
  }
  broken.push(`${call} ${fault}: more than ${WHEN_MAX} calls, so the later ones were not interrupted`);
}

function run(argv: readonly string[], wrapper: readonly string[]): number {
  const [program, ...rest] = [...wrapper, ...PROGRAM, ...argv];
  const ended = spawnSync(program!, rest, { stdio: "ignore" });
  if (ended.error !== undefined) throw new Error(`${program} cannot be run: ${ended.error.message}`);
  return ended.status ?? 128;
}

/** Returns every file of the tree and its trust state as one text. */
async function contentOf(site: string): Promise<string> {
  const target = readlinkSync(site);
  const real = join(site, "..", target);
  const trust = TrustState.parse(await readTrust(join(real, "..")));
  return JSON.stringify([[...await readFiles(real)], trust]);
}

function copySite(from: string, to: string): void {
  const [old, made] = [siteAt(from), siteAt(to)];
  if (!existsSync(old.generations)) throw new Error(`${from} was not published`);
  cpSync(old.generations, made.generations, { recursive: true });
  symlinkSync(readlinkSync(from).replace(".before.generations", `.${to.split("/").at(-1)}.generations`), to);
}
