// Finds the path of each document of an image index, and the document at a path. Paths are relative to the index's root
// URL.

/** Path of the list of distros. */
export const INDEX_PATH = "v1/index.json";
/** Path of the list of all current builds. */
export const IMAGES_PATH = "v1/images.json";
/** Path of the API description. */
export const OPENAPI_PATH = "v1/openapi.json";
/** Path of the SHA-256 sums of all other files. */
export const SUMS_PATH = "v1/SHA256SUMS";
/** Path of the detached signature of the sums. */
export const SUMS_SIGNATURE_PATH = "v1/SHA256SUMS.asc";
/** Path of the web page that lists the images. */
export const PAGE_PATH = "index.html";
/** Path of the web page that describes the API. */
export const DOCS_PATH = "docs/index.html";

/** Returns the path of a distro with its releases. */
export const distroPath = (distro: string) => `v1/distros/${distro}/index.json`;
/** Returns the path of the current builds of a release. */
export const releasePath = (distro: string, release: string) => `v1/distros/${distro}/releases/${release}/index.json`;
/** Returns the path of the archived builds of a release. */
export const archivePath = (distro: string, release: string) => `v1/distros/${distro}/releases/${release}/archive.json`;
/** Returns the path of the current builds of the release that has an alias. */
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
 * Parses a path. Returns null for a path that no index has. New aliases may be added, so any name is accepted as an
 * alias.
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

/** Returns whether an index may have a file at the path. */
export function isApiPath(path: string): boolean {
  return parsePath(path) !== null;
}

/** Returns whether the builder may use a name (of a distro, release, alias or build) as one segment of a path. */
export function isName(text: string): boolean {
  return /^[A-Za-z0-9._-]{1,64}$/.test(text) && !text.includes("..") && text !== ".";
}

/**
 * Returns whether a client may use a name from an index as one segment of a local path. Indexes of other builders may
 * have names with `+` and `~`, so these are accepted. A name that starts with a dot or a hyphen is refused, because it
 * would be a hidden file or look like an option.
 */
export function isSafeName(text: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9._+~-]{0,63}$/.test(text);
}
