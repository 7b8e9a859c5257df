// Which files an index may hold, and what each is.
import { IMAGES_PATH, INDEX_PATH, OPENAPI_PATH, SUMS_PATH, SUMS_SIGNATURE_PATH } from "./tree.ts";

export const PAGE_PATH = "index.html";
export const DOCS_PATH = "docs/index.html";

export type ApiPath =
  | { readonly kind: "index" | "images" | "openapi" | "sums" | "sums_signature" | "page" | "docs" }
  | { readonly kind: "distro"; readonly distro: string }
  | { readonly kind: "alias"; readonly distro: string; readonly alias: string }
  | { readonly kind: "release" | "archive"; readonly distro: string; readonly release: string };

const FIXED: Readonly<Record<string, ApiPath>> = {
  [INDEX_PATH]: { kind: "index" },
  [IMAGES_PATH]: { kind: "images" },
  [OPENAPI_PATH]: { kind: "openapi" },
  [SUMS_PATH]: { kind: "sums" },
  [SUMS_SIGNATURE_PATH]: { kind: "sums_signature" },
  [PAGE_PATH]: { kind: "page" },
  [DOCS_PATH]: { kind: "docs" },
};

/** Null for a path that is none of document 1's. Any alias has its file (document 1, Alias: an open enum). */
export function parsePath(path: string): ApiPath | null {
  if (Object.hasOwn(FIXED, path)) return FIXED[path]!;
  const parts = path.split("/");
  const [version, distros, distro = "", kind, name = "", file] = parts;
  if (version !== "v1" || distros !== "distros" || !isName(distro)) return null;
  if (parts.length === 4 && kind === "index.json") return { kind: "distro", distro };
  if (parts.length === 5 && kind === "aliases") {
    const alias = name.endsWith(".json") ? name.slice(0, -".json".length) : "";
    return isName(alias) ? { kind: "alias", distro, alias } : null;
  }
  if (parts.length !== 6 || kind !== "releases" || !isName(name)) return null;
  if (file === "index.json") return { kind: "release", distro, release: name };
  return file === "archive.json" ? { kind: "archive", distro, release: name } : null;
}

export function isApiPath(path: string): boolean {
  return parsePath(path) !== null;
}

/** What can be one part of a path of the tree. */
export function isName(text: string): boolean {
  return /^[A-Za-z0-9._-]{1,64}$/.test(text) && !text.includes("..") && text !== ".";
}
