// Writes and switches the generations of a site. A generation is one version of the site's tree. SITE is a symbolic
// link to `.SITE.generations/N/site`, and the trust state of the generation is in the same folder N. A rename replaces
// the link to publish a generation. So a reader sees either the old or the new generation, even after a builder was
// killed, and the trust state is never newer than the tree. There is one exception: while a link replaces a plain
// folder, the site is missing (setAsidePlainFolder).
import { lstat, mkdir, open, readdir, readFile, readlink, rename, rm, symlink } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { documentText } from "../../src/lib/image-index/documents.ts";
import { messageOf } from "../fault.ts";
import { TrustState } from "../signatures/trust.ts";
import { readTreeFiles, TreeProblem } from "../tree/load.ts";
import type { Files } from "../tree/tree.ts";

export type Site = { readonly link: string; readonly generations: string };
export type Published = { readonly number: number; readonly files: Files | null; readonly trust: TrustState };

export const TRUST_FILE = "trust.json";
const TREE_FOLDER = "site";
/** The number of generations to keep. The previous generation stays for readers that have just opened it. */
const KEPT = 2;

export function siteAt(path: string): Site {
  const link = resolve(path);
  return { link, generations: join(dirname(link), `.${basename(link)}.generations`) };
}

/** Reads the published tree. A plain folder at the path of the site, from an operator, counts as generation 0. */
export async function readPublished(site: Site): Promise<Published> {
  const number = await currentNumber(site);
  const files = await readTreeFiles(number === 0 ? site.link : join(site.generations, `${number}`, TREE_FOLDER));
  return {
    number,
    files,
    trust: number === 0 ? TrustState.parse({}) : await readTrust(join(site.generations, `${number}`)),
  };
}

export async function readTrust(folder: string): Promise<TrustState> {
  const path = join(folder, TRUST_FILE);
  try {
    return TrustState.parse(JSON.parse(await readFile(path, "utf8")));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return TrustState.parse({});
    throw new TreeProblem(`${path}: ${messageOf(error)}`);
  }
}

/** Returns the number of the generation that the link names; 0 for a plain folder or a missing site. */
async function currentNumber(site: Site): Promise<number> {
  const target = await readlink(site.link).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "EINVAL") return null;
    throw new TreeProblem(`${site.link}: ${error.message}`);
  });
  if (target === null) return 0;
  const match = /\/(\d{1,15})\/site$/.exec(target);
  if (match === null || resolve(dirname(site.link), target) !== join(site.generations, match[1]!, TREE_FOLDER)) {
    throw new TreeProblem(`${site.link}: is not a link that this program made`);
  }
  return Number(match[1]);
}

/**
 * Writes a generation, switches the link to it and returns its number. The caller must hold the lock. After an error
 * before the switch, the previous generation is still published. `report` gets a line for each old folder that could
 * not be removed.
 */
export async function publish(
  site: Site,
  next: { files: Files; trust: TrustState },
  report: (line: string) => void,
): Promise<number> {
  // This call reports nothing, because the call at the end of the function tries the same folders again.
  await tidy(site, () => {});
  const number = Math.max(0, ...await generationNumbers(site)) + 1;
  const draft = join(site.generations, `${number}.draft`);
  await writeFolder(join(draft, TREE_FOLDER), next.files);
  await writeSynced(join(draft, TRUST_FILE), documentText(next.trust));
  await syncFolder(draft);
  await rename(draft, join(site.generations, `${number}`));
  await syncFolder(site.generations);
  await switchTo(site, number);
  await tidy(site, report);
  return number;
}

async function switchTo(site: Site, number: number): Promise<void> {
  const draft = join(dirname(site.link), `.${basename(site.link)}.link-${number}`);
  await rm(draft, { force: true });
  await symlink(join(basename(site.generations), `${number}`, TREE_FOLDER), draft);
  await setAsidePlainFolder(site);
  await rename(draft, site.link);
  await syncFolder(dirname(site.link));
}

/**
 * Moves a plain folder away, because a rename cannot replace a folder by a link. Until the link exists, the site is
 * missing; after a crash `recover` repairs this.
 */
async function setAsidePlainFolder(site: Site): Promise<void> {
  const there = await lstat(site.link).catch(() => null);
  if (there?.isDirectory() !== true) return;
  const aside = join(site.generations, "0");
  await rm(aside, { recursive: true, force: true });
  await mkdir(aside, { recursive: true });
  await rename(site.link, join(aside, TREE_FOLDER));
}

/** Restores the site after a crash between `setAsidePlainFolder` and the new link. The caller must hold the lock. */
export async function recover(site: Site): Promise<void> {
  if (await lstat(site.link).then(() => true, () => false)) return;
  const aside = join(site.generations, "0", TREE_FOLDER);
  if (await lstat(aside).then(() => true, () => false)) await rename(aside, site.link);
}

/**
 * Removes drafts, generations that were never published, and old generations. A folder that cannot be removed, for
 * example because another user published it, does not stop the publication. The next run tries again.
 */
async function tidy(site: Site, report: (line: string) => void): Promise<void> {
  const current = await currentNumber(site);
  const keep = [current, ...(await generationNumbers(site)).filter((number) => number < current).sort((a, b) => b - a)]
    .slice(0, KEPT);
  for (const name of await readdir(site.generations)) {
    const stale = /^\d+\.draft$/.test(name) || (/^\d+$/.test(name) && current > 0 && !keep.includes(Number(name)));
    if (!stale) continue;
    const folder = join(site.generations, name);
    await rm(folder, { recursive: true, force: true }).catch((error) =>
      report(`${folder} could not be removed: ${messageOf(error)}; the next publication tries again`)
    );
  }
}

async function generationNumbers(site: Site): Promise<number[]> {
  return (await readdir(site.generations)).filter((name) => /^\d{1,15}$/.test(name)).map(Number);
}

/** Writes the files of a folder and syncs every file and folder to the disk. */
export async function writeFolder(folder: string, files: Files): Promise<void> {
  const folders = new Set<string>([folder]);
  for (const path of files.keys()) {
    for (let at = dirname(join(folder, path)); at.startsWith(folder) && !folders.has(at); at = dirname(at)) {
      folders.add(at);
    }
  }
  for (const made of [...folders].sort()) await mkdir(made, { recursive: true });
  for (const [path, text] of files) await writeSynced(join(folder, path), text);
  for (const made of [...folders].sort().reverse()) await syncFolder(made);
}

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, "w", 0o644);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
