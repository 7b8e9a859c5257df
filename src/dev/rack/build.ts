// Builds the release and the node image of the rack, and keeps them until a source changes.
import { statSync } from "node:fs";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import process from "node:process";
import * as openpgp from "openpgp";
import { newestFile } from "../build-age.ts";
import { ROOT } from "../environment.ts";
import { BUILD_FOLDER } from "./plan.ts";
import { must } from "./processes.ts";

/** The source folders and files of the release and the image. */
const SOURCES = ["actors", "booter", "cli", "console", "index-builder", "migrations", "nodeagent", "src", "deno.lock"];
const KEY = join(BUILD_FOLDER, "release.key");

/**
 * Returns the key that signs the rack's release, and creates the key if needed. The key's creation time is in 2020, so
 * that no signature is older than the key.
 */
async function signingKey(): Promise<string> {
  const present = await stat(KEY).then(() => true, () => false);
  if (present) return KEY;
  await mkdir(BUILD_FOLDER, { recursive: true });
  const { privateKey } = await openpgp.generateKey({
    ...{ type: "ecc", curve: "ed25519Legacy", format: "armored" },
    userIDs: [{ name: "Release of the rack" }],
    date: new Date("2020-01-01T00:00:00Z"),
  });
  await writeFile(KEY, privateKey, { mode: 0o600 });
  return KEY;
}

/** Runs a build, unless its result is newer than every source. */
async function built(mark: string, build: () => Promise<void>, sources: readonly string[] = SOURCES): Promise<void> {
  const made_ms = statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (made_ms > Math.max(...sources.map((name) => newestFile(join(ROOT, name))))) return;
  await rm(mark, { force: true });
  await build();
  await writeFile(mark, "");
}

const task = (script: string, ...argv: readonly string[]) =>
  must([process.execPath, "run", "-A", join(ROOT, script), ...argv]);

/** Returns the folder of a release: the given one, or a release that this function builds if needed. */
export async function builtRelease(given: string | undefined): Promise<string> {
  if (given !== undefined) return resolve(given);
  const folder = join(BUILD_FOLDER, "release");
  const key = await signingKey();
  await built(join(BUILD_FOLDER, "release.mark"), async () => {
    await task("console/build.ts");
    await task("cli/release/main.ts", "--key", key, "--out", folder, "--architecture", "amd64");
  });
  return folder;
}

/**
 * Returns the folder of a node image: the given one, or an image that this function builds if needed. The folder's name
 * is the stamp.
 */
export async function builtImage(given: string | undefined): Promise<string> {
  if (given !== undefined) return resolve(given);
  const folder = join(BUILD_FOLDER, "image");
  const key = await signingKey();
  await built(join(BUILD_FOLDER, "image.mark"), async () => {
    await rm(folder, { recursive: true, force: true });
    await task("cli/release/node-image.ts", "--key", key, "--out", folder);
  });
  const [stamp] = await readdir(folder);
  if (stamp === undefined) throw new Error(`${folder} has no image`);
  return join(folder, stamp);
}

/** Returns the disk image of the test guest, a small Linux with ssh and a web server, from Debian's packages. */
export async function builtGuest(): Promise<string> {
  const folder = join(BUILD_FOLDER, "guest");
  await built(join(BUILD_FOLDER, "guest.mark"), async () => {
    await mkdir(folder, { recursive: true });
    await must(["bash", join(ROOT, "tests/guest/build.sh"), folder]);
  }, ["tests/guest"]);
  return join(folder, "guest.qcow2");
}

/** Returns the armored private key of the rack, which also signs the image index. */
export async function releaseKeyText(): Promise<string> {
  return await readFile(await signingKey(), "utf8");
}
