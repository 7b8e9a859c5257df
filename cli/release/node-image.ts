// `task node-image` builds a Linux node image from Debian packages into dist/node-image/STAMP, the folder that a booter
// serves from files_dir/os/STAMP (docs/booting.md, "Linux node images"). Options: --key FILE, the armored private key
// that signs; --out FOLDER; --agent FILE, a compiled nodeagent; --help. BERTH_RELEASE_PASSPHRASE is the passphrase of
// the key. SOURCE_DATE_EPOCH is the time of all files; the default is the time of the last commit. The stamp is this
// time.
import { execFileSync, spawn } from "node:child_process";
import { mkdir, rename, rm } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { compile, entryOf } from "../compile.ts";
import { writeManifest } from "./node-manifest.ts";
import { readReleaseKey, signingTime } from "./signature.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const BUILD = fileURLToPath(new URL("node-image/build.sh", import.meta.url));
/** Arguments of the kernel. After a panic the machine restarts, and so boots from the network again. */
const COMMAND_LINE = ["quiet", "panic=30"] as const;

const USAGE = `usage: task node-image --key FILE [--out FOLDER] [--agent FILE]

--key FILE is required: the armored private key that signs the image. task release uses the same key.
--agent is a compiled nodeagent; by default the task compiles one.
It needs root, mmdebstrap, squashfs-tools, cpio and kmod:
  apt-get install mmdebstrap squashfs-tools cpio kmod`;

const { values } = parseArgs({
  options: {
    key: { type: "string" },
    out: { type: "string", default: join(ROOT, "dist/node-image") },
    agent: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

function timeOfFiles(): number {
  const text = process.env["SOURCE_DATE_EPOCH"] ??
    execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: ROOT, encoding: "utf8" }).trim();
  if (!/^\d{1,10}$/.test(text)) throw new Error(`SOURCE_DATE_EPOCH must be seconds since 1970, not ${text}`);
  return Number(text);
}

function built(folder: string, agent: string, time_s: number): Promise<void> {
  return new Promise((done, reject) => {
    const env = { ...process.env, SOURCE_DATE_EPOCH: String(time_s) };
    const child = spawn("bash", [BUILD, folder, agent], { env, stdio: ["ignore", 2, 2] });
    child.once("error", reject);
    child.once(
      "exit",
      (code) => code === 0 ? done() : reject(new Error("the build failed; the lines above say why")),
    );
  });
}

async function nodeImage(key_path: string | undefined): Promise<void> {
  if (key_path === undefined) throw new Error(USAGE);
  if (process.getuid?.() !== 0) {
    throw new Error("the build needs root, because it installs Debian packages into a folder");
  }
  const key = await readReleaseKey(key_path, process.env["BERTH_RELEASE_PASSPHRASE"] ?? null);
  const time_s = timeOfFiles();
  const stamp = new Date(time_s * 1_000).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const agent = values.agent ?? join(ROOT, "dist/node-image-agent");
  if (values.agent === undefined) await compile(entryOf("nodeagent"), agent);
  const [folder, draft] = [join(resolve(values.out), stamp), join(resolve(values.out), `${stamp}.part`)];
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true });
  try {
    await built(draft, resolve(agent), time_s);
    const signed_at = await signingTime(key, time_s);
    const files = await writeManifest({ folder: draft, stamp, command_line: COMMAND_LINE, key, signed_at });
    await rm(folder, { recursive: true, force: true });
    await rename(draft, folder);
    console.log(relative(process.cwd(), folder));
    for (const { name, sha256, bytes } of files) console.log(`${name}  ${bytes} bytes  SHA-256 ${sha256}`);
  } finally {
    if (values.agent === undefined) await rm(agent, { force: true });
  }
}

if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
try {
  await nodeImage(values.key);
} catch (error) {
  console.error(`node-image: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
