// Checks a published tree and reports all problems that it finds, not only the first. This file checks the form of each
// file and the rules between files; check-build.ts checks the rules within a release or build.
import { compareNatural } from "../natural-order.ts";
import { buildRules, type Complain, type Hosts, locationsOf, releaseRules } from "./check-build.ts";
import { type Build, BuildList, Distro, DistroList, ImageList } from "./model.ts";
import { openapiText } from "./openapi.ts";
import { compareArchived, compareReleases } from "./order.ts";
import { documentText } from "../../src/lib/image-index/documents.ts";
import {
  aliasPath,
  type ApiPath,
  archivePath,
  distroPath,
  DOCS_PATH,
  IMAGES_PATH,
  INDEX_PATH,
  OPENAPI_PATH,
  PAGE_PATH,
  parsePath,
  releasePath,
} from "../../src/lib/image-index/paths.ts";
import { type DistroTree, type Files, imagesOf, summaryOf } from "./tree.ts";

export type Pages = { readonly page: (images: ImageList) => string; readonly docs: () => string };
/** The expectations of a tree: the functions that generate its pages, and the allowed hosts by distro. */
export type Expected = { readonly pages: Pages; readonly hosts: ReadonlyMap<string, Hosts> };
/** "path: description of the problem". */
export type Problem = string;

const SHAPES = {
  index: DistroList,
  images: ImageList,
  distro: Distro,
  alias: BuildList,
  release: BuildList,
  archive: BuildList,
} as const;

export function checkFiles(files: Files, { pages, hosts }: Expected): Problem[] {
  const problems: Problem[] = [];
  const complain: Complain = (path, text) => problems.push(`${path}: ${text}`);
  for (const [path, text] of files) strictRule(path, text, complain);
  equalRule(files, DOCS_PATH, pages.docs(), complain);
  equalRule(files, OPENAPI_PATH, openapiText(), complain);
  const list = parsed(files, INDEX_PATH, DistroList);
  if (list === null) {
    return [...problems, `${INDEX_PATH}: is missing or unreadable, so the other files were not checked`];
  }
  const listed = list.distros.map(({ id }) => id);
  for (const id of repeated(listed)) complain(INDEX_PATH, `distro ${id} is listed twice`);
  const folders = new Set([...files.keys()].flatMap((path) => distroOf(parsePath(path)) ?? []));
  for (const id of folders) {
    if (!listed.includes(id)) complain(distroPath(id), "the distro of this folder is not listed in v1/index.json");
  }
  const trees: DistroTree[] = [];
  for (const summary of list.distros) {
    const tree = distroRules(files, { id: summary.id, hosts: hosts.get(summary.id) ?? null }, complain);
    if (tree === null) continue;
    trees.push(tree);
    if (JSON.stringify(summaryOf(tree.distro)) !== JSON.stringify(summary)) {
      complain(distroPath(summary.id), `differs from ${INDEX_PATH}`);
    }
  }
  // images.json and the page are generated from the documents of the distros, so the check generates both again and
  // compares.
  if (trees.length === list.distros.length) {
    const images = imagesOf({ distros: trees });
    equalRule(files, IMAGES_PATH, documentText(images), complain);
    equalRule(files, PAGE_PATH, pages.page(images), complain);
  } else {
    for (const path of [IMAGES_PATH, PAGE_PATH]) if (!files.has(path)) complain(path, "is missing");
  }
  return problems;
}

/**
 * Checks that the path is a path of the API. Checks that a document does not change if this program reads it and writes
 * it again: it has all fields, no other fields, and the right order.
 */
function strictRule(path: string, text: string, complain: Complain): void {
  const at = parsePath(path);
  if (at === null) return complain(path, "is not a file of an image index");
  if (!(at.kind in SHAPES)) return;
  const shape = SHAPES[at.kind as keyof typeof SHAPES];
  try {
    const result = shape.safeParse(JSON.parse(text));
    if (!result.success) {
      return complain(
        path,
        result.error.issues.map(({ path: p, message }) => `${p.join(".")}: ${message}`).join("; "),
      );
    }
    if (documentText(result.data) !== text) complain(path, "is not in the form that this program writes");
  } catch (error) {
    complain(path, String(error));
  }
}

function equalRule(files: Files, path: string, expected: string, complain: Complain): void {
  const text = files.get(path);
  if (text === undefined) complain(path, "is missing");
  else if (text !== expected) complain(path, "differs from the text that the builder generates");
}

type One = { readonly id: string; readonly hosts: Hosts | null };

function distroRules(files: Files, { id, hosts }: One, complain: Complain): DistroTree | null {
  const path = distroPath(id);
  const distro = parsed(files, path, Distro);
  if (distro === null) {
    complain(path, "is missing or unreadable");
    return null;
  }
  if (distro.id !== id) complain(path, `belongs to distro ${distro.id}`);
  const ids = distro.releases.map((release) => release.id);
  for (const release of repeated(ids)) complain(path, `release ${release} is listed twice`);
  if (!isOrdered(distro.releases, compareReleases)) complain(path, "does not list its releases newest first");
  const current = new Map<string, readonly Build[]>();
  const archived = new Map<string, readonly Build[]>();
  for (const release of distro.releases) {
    releaseRules(path, { release, dev_channel: distro.dev_channel }, complain);
    const list = buildsAt(files, { kind: "release", distro: id, release: release.id, hosts }, complain);
    if (list !== null) current.set(release.id, list);
    const archive = buildsAt(files, { kind: "archive", distro: id, release: release.id, hosts }, complain);
    if (archive !== null) archived.set(release.id, archive);
    for (const build of archive ?? []) {
      if (list?.some((other) => other.build === build.build)) {
        complain(path, `${release.id}: ${build.build} is current and archived`);
      }
    }
  }
  for (const file of files.keys()) {
    const at = parsePath(file);
    if ((at?.kind === "release" || at?.kind === "archive") && at.distro === id && !ids.includes(at.release)) {
      complain(file, "belongs to a release that its distro does not list");
    }
  }
  aliasRules(files, distro, complain);
  return current.size === distro.releases.length ? { distro, current, archived } : null;
}

type At = { kind: "release" | "archive"; distro: string; release: string; hosts: Hosts | null };

function buildsAt(files: Files, at: At, complain: Complain): Build[] | null {
  const path = at.kind === "release" ? releasePath(at.distro, at.release) : archivePath(at.distro, at.release);
  const list = parsed(files, path, BuildList);
  if (list === null) {
    if (at.kind === "release") complain(path, "is missing or unreadable");
    return null;
  }
  if (list.distro !== at.distro || list.release !== at.release) {
    complain(path, `belongs to ${list.distro}/${list.release}`);
  }
  if (list.builds.length === 0) complain(path, "has no build");
  for (const build of repeated(list.builds.map(({ build }) => build))) complain(path, `build ${build} is listed twice`);
  const order = at.kind === "release" ? byBuild : compareArchived;
  if (!isOrdered(list.builds, order)) complain(path, "does not list its builds newest first");
  const urls = list.builds.map((build) => new Set(locationsOf(build)));
  for (const url of repeated(urls.flatMap((of_build) => [...of_build]))) complain(path, `${url} is in two builds`);
  for (const build of list.builds) buildRules(build, { path, kind: at.kind, hosts: at.hosts }, complain);
  return list.builds;
}

/** Checks that no two releases have the same alias, and that each alias's file is a copy of its release's file. */
function aliasRules(files: Files, distro: Distro, complain: Complain): void {
  const path = distroPath(distro.id);
  const held = distro.releases.flatMap((release) => release.aliases.map((alias) => ({ alias, release })));
  for (const alias of repeated(held.map((entry) => entry.alias))) {
    complain(path, `two releases have the alias ${alias}`);
  }
  const dev = held.find(({ alias }) => alias === "dev");
  if ((dev !== undefined) !== (distro.dev_channel !== null)) {
    complain(path, "dev_channel and alias dev must be both present or both absent");
  }
  for (const { alias, release } of held) {
    const file = aliasPath(distro.id, alias);
    const text = files.get(file);
    if (text === undefined) complain(file, "is missing");
    else if (text !== files.get(releasePath(distro.id, release.id))) {
      complain(file, `is not a copy of release ${release.id}`);
    }
  }
  for (const file of files.keys()) {
    const at = parsePath(file);
    if (at?.kind === "alias" && at.distro === distro.id && !held.some(({ alias }) => alias === at.alias)) {
      complain(file, "no release has this alias");
    }
  }
}

function parsed<T>(
  files: Files,
  path: string,
  shape: { safeParse(value: unknown): { success: boolean; data?: T } },
): T | null {
  const text = files.get(path);
  if (text === undefined) return null;
  try {
    const result = shape.safeParse(JSON.parse(text));
    return result.success ? result.data! : null;
  } catch {
    return null;
  }
}

function byBuild(a: Build, b: Build): number {
  return compareNatural(b.build, a.build);
}

/** Returns whether the items are sorted. Equal items pass, because another rule reports repeated names. */
function isOrdered<T>(items: readonly T[], compare: (a: T, b: T) => number): boolean {
  return items.every((item, index) => index === 0 || compare(items[index - 1]!, item) <= 0);
}

function distroOf(at: ApiPath | null): string | null {
  return at !== null && "distro" in at ? at.distro : null;
}

function repeated(items: readonly string[]): Set<string> {
  return new Set(items.filter((item, index) => items.indexOf(item) !== index));
}
