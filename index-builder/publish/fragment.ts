// Writes and reads fragments. A fragment is a folder with the complete tree and the trust state of one vendor. CI jobs
// that run in parallel write one fragment each, and another job merges them.
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { NO_TRUST, type TrustState } from "../signatures/trust.ts";
import { loadTree, readFiles, TreeProblem } from "../tree/load.ts";
import { documentText } from "../../src/lib/image-index/documents.ts";
import { type Part, siteFiles } from "./assemble.ts";
import { readTrust, TRUST_FILE, writeFolder } from "./site.ts";

/** Removes an old fragment before the run, so that it cannot be mistaken for a new one. */
export async function removeFragment(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

export async function writeFragment(folder: string, id: string, part: Part): Promise<void> {
  const target = resolve(folder);
  const draft = join(dirname(target), `.${basename(target)}.draft`);
  await rm(draft, { recursive: true, force: true });
  const trust: TrustState = { vendors: { [id]: part.trust } };
  const files = new Map([...siteFiles({ distros: [part.tree] }), [TRUST_FILE, documentText(trust)]]);
  await mkdir(dirname(target), { recursive: true });
  await writeFolder(draft, files);
  await rename(draft, target);
}

/**
 * Reads a fragment. Returns null for a folder without v1/, which means that the vendor's job failed.
 * @throws TreeProblem
 */
export async function readFragment(folder: string): Promise<ReadonlyMap<string, Part> | null> {
  const whole = await stat(join(folder, "v1")).then((found) => found.isDirectory(), () => false);
  if (!whole) return null;
  const files = new Map(await readFiles(folder));
  files.delete(TRUST_FILE);
  const { distros } = loadTree(files);
  if (distros.length === 0) throw new TreeProblem(`${folder}: contains no distro`);
  const trust = await readTrust(folder);
  return new Map(distros.map((tree) => [
    tree.distro.id,
    { tree, trust: trust.vendors[tree.distro.id] ?? NO_TRUST },
  ]));
}
