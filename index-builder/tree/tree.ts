// A whole index in memory, and the files it is made of. `filesOf` is the only place that turns one into the other, so that
// images.json and the alias files cannot disagree with what they are copies of.
import type { Alias } from "./enums.ts";
import type { Build, BuildList, Distro, DistroList, DistroSummary, ImageList } from "./model.ts";

export type DistroTree = {
  readonly distro: Distro;
  /** Current builds by release id, newest first; one entry for each release. */
  readonly current: ReadonlyMap<string, readonly Build[]>;
  /** Archived builds by release id; only releases that have some. */
  readonly archived: ReadonlyMap<string, readonly Build[]>;
};
export type Tree = { readonly distros: readonly DistroTree[] };
/** Text by path, relative to the site: "v1/index.json". */
export type Files = ReadonlyMap<string, string>;

export const INDEX_PATH = "v1/index.json";
export const IMAGES_PATH = "v1/images.json";
export const OPENAPI_PATH = "v1/openapi.json";
export const SUMS_PATH = "v1/SHA256SUMS";
export const SUMS_SIGNATURE_PATH = "v1/SHA256SUMS.asc";
export const distroPath = (distro: string) => `v1/distros/${distro}/index.json`;
export const releasePath = (distro: string, release: string) => `v1/distros/${distro}/releases/${release}/index.json`;
export const archivePath = (distro: string, release: string) => `v1/distros/${distro}/releases/${release}/archive.json`;
export const aliasPath = (distro: string, alias: Alias | string) => `v1/distros/${distro}/aliases/${alias}.json`;

/** Two spaces, a newline at the end, nothing escaped that JSON lets stand. */
export function fileText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

export function summaryOf({ id, name, os_family, homepage }: DistroSummary): DistroSummary {
  return { id, name, os_family, homepage };
}

/** The documents of the API, without openapi.json and the pages. */
export function filesOf(tree: Tree): Files {
  const files = new Map<string, string>();
  files.set(
    INDEX_PATH,
    fileText({ distros: tree.distros.map(({ distro }) => summaryOf(distro)) } satisfies DistroList),
  );
  files.set(IMAGES_PATH, fileText(imagesOf(tree)));
  for (const { distro, current, archived } of tree.distros) {
    files.set(distroPath(distro.id), fileText(distro));
    for (const release of distro.releases) {
      const list: BuildList = { distro: distro.id, release: release.id, builds: [...(current.get(release.id) ?? [])] };
      const text = fileText(list);
      files.set(releasePath(distro.id, release.id), text);
      for (const alias of release.aliases) files.set(aliasPath(distro.id, alias), text);
      const builds = archived.get(release.id);
      if (builds !== undefined) files.set(archivePath(distro.id, release.id), fileText({ ...list, builds }));
    }
  }
  return files;
}

/** Document 1, ImageList: every current build, distros and releases in their order. */
export function imagesOf(tree: Tree): ImageList {
  return {
    images: tree.distros.flatMap(({ distro, current }) =>
      distro.releases.flatMap((release) =>
        (current.get(release.id) ?? []).map((build) => ({ distro: summaryOf(distro), release, build }))
      )
    ),
  };
}
