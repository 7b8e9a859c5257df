// The files of an image index: the path of each document, and the document at a path. Paths are relative to the site.

/** The list of distros. */
export const INDEX_PATH = "v1/index.json";
/** Every current build. */
export const IMAGES_PATH = "v1/images.json";
/** The API description. */
export const OPENAPI_PATH = "v1/openapi.json";
/** SHA-256 sums of all other files. */
export const SUMS_PATH = "v1/SHA256SUMS";
/** The detached signature of the sums. */
export const SUMS_SIGNATURE_PATH = "v1/SHA256SUMS.asc";
/** The page that lists the images. */
export const PAGE_PATH = "index.html";
/** The page that describes the API. */
export const DOCS_PATH = "docs/index.html";

/** A distro and its releases. */
export const distroPath = (distro: string) => `v1/distros/${distro}/index.json`;
/** Current builds of a release. */
export const releasePath = (distro: string, release: string) => `v1/distros/${distro}/releases/${release}/index.json`;
/** Archived builds of a release. */
export const archivePath = (distro: string, release: string) => `v1/distros/${distro}/releases/${release}/archive.json`;
/** Current builds of the release that holds an alias. */
export const aliasPath = (distro: string, alias: string) => `v1/distros/${distro}/aliases/${alias}.json`;

/** The document at a path. */
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

/**
 * The document at a path, or null for a path that no index has. Aliases are an open set, so any name may have a file.
 */
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

/** Whether an index may have a file at the path. */
export function isApiPath(path: string): boolean {
  return parsePath(path) !== null;
}

/** Whether the builder may write the name (of a distro, release, alias or build) as one part of a path. */
export function isName(text: string): boolean {
  return /^[A-Za-z0-9._-]{1,64}$/.test(text) && !text.includes("..") && text !== ".";
}

/**
 * Whether a client may use a name that it read as one part of a path of its machine. Any index may be read, so `+` and
 * `~` pass; a dot or hyphen at the start does not, since it hides a file or looks like an option.
 */
export function isSafeName(text: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9._+~-]{0,63}$/.test(text);
}
