// Reads a tree from a folder. Lenient: fields may be missing and unknown ones are dropped, but a file must parse and sit at
// a path of the API, and every release that is listed must have its file. A tree that cannot be read is never taken for an
// empty one: whoever writes would then forget what was first seen and archived.
import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { z } from "zod";
import { messageOf } from "../fault.ts";
import { type Build, BuildList, Distro, DistroList } from "./model.ts";
import { isApiPath } from "./paths.ts";
import { archivePath, distroPath, type DistroTree, type Files, INDEX_PATH, releasePath, type Tree } from "./tree.ts";

/** The tree before cannot be used, so nothing may be written. */
export class TreeProblem extends Error {
  override name = "TreeProblem";
}

/** Every file below `folder`, text by path with "/". Links and anything else than plain files are a problem. */
export async function readFiles(folder: string): Promise<Files> {
  const files = new Map<string, string>();
  const pending = [""];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    for (const entry of await readdir(join(folder, at), { withFileTypes: true })) {
      const path = at === "" ? entry.name : `${at}/${entry.name}`;
      if (entry.isDirectory()) pending.push(path);
      else if (entry.isFile()) files.set(path, await readFile(join(folder, path), "utf8"));
      else throw new TreeProblem(`${path}: neither a file nor a folder`);
    }
  }
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Null when there is no tree yet: the folder is missing or empty. @throws TreeProblem */
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

/** @throws TreeProblem */
export function loadTree(files: Files): Tree {
  for (const path of files.keys()) {
    if (!isApiPath(path)) throw new TreeProblem(`${path}: not a file of an image index`);
  }
  const { distros } = read(files, INDEX_PATH, DistroList);
  const folders = new Set([...files.keys()].flatMap((path) => /^v1\/distros\/([^/]+)\//.exec(path)?.[1] ?? []));
  const listed = new Set(distros.map(({ id }) => id));
  const differ = [...folders].filter((id) => !listed.has(id)).concat([...listed].filter((id) => !folders.has(id)));
  if (differ.length > 0) throw new TreeProblem(`${INDEX_PATH}: does not match the folders: ${differ.join(", ")}`);
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
