// Uses strace to interrupt a publication at every system call that changes the disk: kills the program or simulates a
// full disk. After each interruption, the site must equal the tree before or after the publication, byte for byte, and
// the next run must complete. `deno run -A tests/index-builder/kill-stress.ts [PROGRAM...]`: PROGRAM defaults to this
// checkout under Deno.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
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
/** strace counts calls per thread, so one number can hit several calls of a run. */
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
const FAULTS = ["signal=KILL", "error=ENOSPC"];
/** The limit of the loop. It is larger than the number of calls of one kind in a run. */
const WHEN_MAX = 400;

const T0 = ["--recorded", webFolder("t0"), "--vendor", "debian", "--at", "2026-10-09T05:17:00Z"];
/** The same vendor with more images, for a different tree. */
const T1 = ["--recorded", webFolder("wide/debian"), ...T0];

const folder = mkdtempSync(join(tmpdir(), "kill-stress-"));
let tried = 0;
let hit = 0;
const broken: string[] = [];
try {
  const before = await publishedBy("before", T0);
  const after = await publishedBy("after", T1);
  if (before === after) throw new Error("both recordings give the same tree, so the test would prove nothing");
  for (const fault of FAULTS) for (const call of CALLS) await everyMoment(call, fault, { before, after });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${tried} faulted publications, ${hit} of them ended by the fault, ${broken.length} inconsistent`);
for (const line of broken) console.log(line);
process.exit(broken.length === 0 && hit > 0 ? 0 : 1);

async function publishedBy(name: string, argv: readonly string[]): Promise<string> {
  const site = join(folder, name);
  run(["all", "--site", site, ...argv], []);
  return await contentOf(site);
}

async function everyMoment(call: string, fault: string, trees: { before: string; after: string }): Promise<void> {
  for (let when = 1; when <= WHEN_MAX; when++) {
    const site = join(folder, `${tried++}`);
    copySite(join(folder, "before"), site);
    const ended = run(["all", "--site", site, ...T1], [
      "strace",
      "-f",
      "-qq",
      "-o",
      "/dev/null",
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
    if (ended !== 0) hit++;
    const next = run(["all", "--site", site, ...T1], []);
    if (next !== 0 || await contentOf(site) !== trees.after) broken.push(`${at}: the next run ended with ${next}`);
    const left = readdirSync(siteAt(site).generations).filter((name) => name.endsWith(".draft"));
    if (left.length > 0) broken.push(`${at}: ${left.join(", ")} left behind`);
    rmSync(site, { force: true });
    rmSync(siteAt(site).generations, { recursive: true, force: true });
    // The number is above the last call of this kind, so the run was not interrupted.
    if (ended === 0) return;
  }
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
