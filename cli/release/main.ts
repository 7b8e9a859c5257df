// `task release` writes dist/release. Its subfolder `channel` is for machines without Debian packages. Options:
// - --key FILE: the armored private key that signs
// - --out FOLDER: the folder to write
// - --architecture amd64|arm64, --package NAME: limit the release; both may be repeated
// - --tarball FILE: adds a tarball built elsewhere to the channel; may be repeated
// - --node-image FOLDER: adds an image of `task node-image`; may be repeated
//
// BERTH_RELEASE_PASSPHRASE is the passphrase of the key. SOURCE_DATE_EPOCH is the time of all files and signatures; the
// default is the time of the last commit. If the key is newer, signatures have the time of its creation.
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, relative, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { BUN_VERSION, compile, entryOf } from "../compile.ts";
import { VERSION } from "../version.ts";
import { debianLayers } from "./container/debian-base.ts";
import { controlPlaneFiles, requireWebConsole } from "./control-plane.ts";
import { checkTarballs } from "./channel.ts";
import { ARCHITECTURES } from "./deb.ts";
import { DENO_PINS, DENO_VERSION, denoExecutable } from "./deno-runtime.ts";
import { readLock } from "./lock.ts";
import { manualEntries } from "./manual.ts";
import { nodeImageTar } from "./node-image-tar.ts";
import { importedPackages } from "./node-modules.ts";
import { PACKAGES } from "./packages.ts";
import { type Item, writeRelease } from "./release.ts";
import { publicKeyPem, readReleaseKey } from "./signature.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** Bun's name of the target platform of each architecture. */
const BUN_TARGETS = { amd64: "bun-linux-x64", arm64: "bun-linux-arm64" } as const;
const PROGRAM_FOLDERS = ["cli", "booter", "index-builder"];
const KEY_HELP =
  "--key FILE is required: an armored private key. To make one: `gpg --quick-generate-key NAME ed25519 sign`, then " +
  "`gpg --armor --export-secret-keys NAME`";

const USAGE = `usage: task release --key FILE [--out FOLDER] [--architecture amd64|arm64]... [--package NAME]...
                    [--tarball FILE]... [--node-image FOLDER]...

${KEY_HELP}
Packages: ${PACKAGES.join(", ")}
--tarball adds a program built elsewhere to the channel: PROGRAM-${VERSION}-SYSTEM-MACHINE.tar.gz
--node-image adds an image of task node-image: dist/node-image/STAMP
The container image of the control plane needs apt and dpkg, because its base comes from Debian packages`;

const values = options();

function options() {
  try {
    return parseArgs({
      options: {
        key: { type: "string" },
        out: { type: "string", default: join(ROOT, "dist/release") },
        architecture: { type: "string", multiple: true, default: [...ARCHITECTURES] },
        package: { type: "string", multiple: true, default: [...PACKAGES] },
        tarball: { type: "string", multiple: true, default: [] },
        "node-image": { type: "string", multiple: true, default: [] },
        help: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    console.error(`release: ${error instanceof Error ? error.message.split(".", 1)[0] : String(error)}\n${USAGE}`);
    process.exit(2);
  }
}

/** Returns the packages to build, without the control plane for architectures without a pinned Deno. */
function wanted(note: (line: string) => void): Item[] {
  const architectures = values.architecture.map((name) => oneOf(ARCHITECTURES, name, "--architecture"));
  const packages = values.package.map((name) => oneOf(PACKAGES, name, "--package"));
  const items = ARCHITECTURES.filter((each) => architectures.includes(each)).flatMap((architecture) =>
    PACKAGES.filter((each) => packages.includes(each)).map((name) => ({ name, architecture }))
  );
  const has = ({ name, architecture }: Item) => name !== "berth-control-plane" || DENO_PINS[architecture] !== undefined;
  for (const { name, architecture } of items.filter((each) => !has(each))) {
    note(`left out: ${name} for ${architecture}: no Deno is pinned for this architecture`);
  }
  return items.filter(has);
}

function oneOf<V extends string>(known: readonly V[], name: string, option: string): V {
  const found = known.find((each) => each === name);
  if (found === undefined) throw new Error(`${option} ${name}: must be one of ${known.join(", ")}`);
  return found;
}

async function program({ name, architecture }: Item): Promise<Uint8Array> {
  if (name === "berth-control-plane") return await denoExecutable(architecture);
  // The executables of all architectures have the same file name, so each architecture has a folder.
  const path = `dist/release-build/${architecture}/${name}`;
  await mkdir(join(ROOT, path, ".."), { recursive: true });
  await compile(entryOf(name), path, BUN_TARGETS[architecture]);
  return await readFile(join(ROOT, path));
}

function timeOfFiles(): number {
  const text = process.env["SOURCE_DATE_EPOCH"] ??
    execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: ROOT, encoding: "utf8" }).trim();
  if (!/^\d{1,10}$/.test(text)) throw new Error(`SOURCE_DATE_EPOCH must be seconds since 1970, not ${text}`);
  return Number(text);
}

async function importedByPrograms(): Promise<readonly string[]> {
  const listings = await Promise.all(
    PROGRAM_FOLDERS.map((folder) => readdir(join(ROOT, folder), { recursive: true, withFileTypes: true })),
  );
  const paths = listings.flat().filter((each) => each.isFile() && each.name.endsWith(".ts"))
    .map((each) => join(each.parentPath, each.name));
  return importedPackages(await Promise.all(paths.map((path) => readFile(path, "utf8"))));
}

async function release(key_path: string | undefined): Promise<void> {
  if (key_path === undefined) throw new Error(KEY_HELP);
  const key = await readReleaseKey(key_path, process.env["BERTH_RELEASE_PASSPHRASE"] ?? null);
  const note = (line: string) => console.error(line);
  const items = wanted(note);
  if (items.some(({ name }) => name === "berth-control-plane")) requireWebConsole(ROOT);
  const tarballs = values.tarball.map((path) => ({ name: basename(path), path }));
  await checkTarballs(tarballs, VERSION);
  if (await publicKeyPem(key) === null) {
    note("the channel's install.sh will need gpgv: it can use OpenSSL only with Ed25519 keys, and SmartOS has no gpgv");
  }
  const build = join(ROOT, "dist/release-build");
  const manual = await mkdtemp(join(tmpdir(), "berth-manual-"));
  try {
    const lock = await readLock(join(ROOT, "deno.lock"));
    const time_s = timeOfFiles();
    const names = await writeRelease({
      root: ROOT,
      out: values.out,
      version: VERSION,
      time_s,
      items,
      program,
      lock,
      control_plane: await controlPlaneFiles(ROOT, lock),
      manual: await manualEntries({ root: ROOT, folder: manual, time_s }),
      imported: await importedByPrograms(),
      runtimes: { bun: BUN_VERSION, deno: DENO_VERSION },
      key,
      tarballs,
      containerBase: (architecture) =>
        debianLayers(architecture, (reason) => note(`left out: the container image for ${architecture}: ${reason}`)),
      node_images: await Promise.all(values["node-image"].map((path) => nodeImageTar(resolve(path), time_s))),
      note,
    });
    console.log(`${relative(process.cwd(), values.out)}: ${names.length} files`);
  } finally {
    await Promise.all([build, manual].map((folder) => rm(folder, { recursive: true, force: true })));
  }
}

if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
try {
  await release(values.key);
} catch (error) {
  console.error(`release: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
