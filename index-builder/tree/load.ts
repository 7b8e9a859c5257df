// Reads a tree from a folder. Optional fields may be missing, and unknown fields are dropped. But the path of every
// file must be a path of the API, every listed distro and release must have its file, and these files must parse. A
// tree that cannot be read is an error and not an empty tree, because an empty tree has no first_seen times and no
// archive that the builder can keep.
import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { z } from "zod";
import { messageOf } from "../fault.ts";
import { type Build, BuildList, Distro, DistroList } from "./model.ts";
import { archivePath, distroPath, INDEX_PATH, isApiPath, releasePath } from "../../src/lib/image-index/paths.ts";
import type { DistroTree, Files, Tree } from "./tree.ts";

/** The published tree cannot be used, so the builder must not write. */
export class TreeProblem extends Error {
  override name = "TreeProblem";
}

/** Reads every file below `folder` and returns texts by path with "/". Throws for links and special files. */
export async function readFiles(folder: string): Promise<Files> {
  const files = new Map<string, string>();
  const pending = [""];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    for (const entry of await readdir(join(folder, at), { withFileTypes: true })) {
      const path = at === "" ? entry.name : `${at}/${entry.name}`;
      if (entry.isDirectory()) pending.push(path);
      else if (entry.isFile()) files.set(path, await readFile(join(folder, path), "utf8"));
      else throw new TreeProblem(`${path}: is neither a file nor a folder`);
    }
  }
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Reads the files of a tree. Returns null if the folder is missing or empty.
 * @throws TreeProblem
 */
export async function readTreeFiles(folder: string): Promise<Files | null> {
  const there = await lstat(folder).then(() => true, (error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return false;
    throw new TreeProblem(`${folder}: ${messageOf(error)}`);
  });
  if (!there) return null;
  const files = await readFiles(folder).catch((error) => {
    throw new TreeProblem(`${folder}: ${messageOf(error)}`);
  });
  return files.size === 0 ? null : files;
}

/**
 * Parses the files of a tree.
 * @throws TreeProblem
 */
export function loadTree(files: Files): Tree {
  for (const path of files.keys()) {
    if (!isApiPath(path)) throw new TreeProblem(`${path}: is not a file of an image index`);
  }
  const { distros } = read(files, INDEX_PATH, DistroList);
  const folders = new Set([...files.keys()].flatMap((path) => /^v1\/distros\/([^/]+)\//.exec(path)?.[1] ?? []));
  const listed = new Set(distros.map(({ id }) => id));
  const differ = [...folders].filter((id) => !listed.has(id)).concat([...listed].filter((id) => !folders.has(id)));
  if (differ.length > 0) {
    throw new TreeProblem(`${INDEX_PATH}: its list of distros differs from the folders: ${differ.join(", ")}`);
  }
  return { distros: distros.map(({ id }) => loadDistro(files, id)) };
}

function loadDistro(files: Files, id: string): DistroTree {
  const distro = read(files, distroPath(id), Distro);
  const current = new Map<string, Build[]>();
  const archived = new Map<string, Build[]>();
  for (const release of distro.releases) {
    current.set(release.id, read(files, releasePath(id, release.id), BuildList).builds);
    const archive = archivePath(id, release.id);
    if (files.has(archive)) archived.set(release.id, read(files, archive, BuildList).builds);
  }
  return { distro, current, archived };
}

function read<T>(files: Files, path: string, shape: z.ZodType<T>): T {
  const text = files.get(path);
  if (text === undefined) throw new TreeProblem(`${path}: missing`);
  try {
    return shape.parse(JSON.parse(text));
  } catch (error) {
    throw new TreeProblem(`${path}: ${messageOf(error)}`);
  }
}
