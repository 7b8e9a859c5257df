// Represents a complete index in memory, and generates its files. Only `filesOf` generates documents, so images.json
// and the alias files always agree with the documents from which they are copied.
import { documentText } from "../../src/lib/image-index/documents.ts";
import {
  aliasPath,
  archivePath,
  distroPath,
  IMAGES_PATH,
  INDEX_PATH,
  releasePath,
} from "../../src/lib/image-index/paths.ts";
import type { Build, BuildList, Distro, DistroList, DistroSummary, ImageList } from "./model.ts";

export type DistroTree = {
  readonly distro: Distro;
  /** Current builds by release id, newest first; one entry for each release. */
  readonly current: ReadonlyMap<string, readonly Build[]>;
  /** Archived builds by release id; only for releases with an archive. */
  readonly archived: ReadonlyMap<string, readonly Build[]>;
};
export type Tree = { readonly distros: readonly DistroTree[] };
/** Texts of files by path relative to the site, for example "v1/index.json". */
export type Files = ReadonlyMap<string, string>;

export function summaryOf({ id, name, os_family, homepage }: DistroSummary): DistroSummary {
  return { id, name, os_family, homepage };
}

/** Returns the documents of the API, without openapi.json and the pages. */
export function filesOf(tree: Tree): Files {
  const files = new Map<string, string>();
  files.set(
    INDEX_PATH,
    documentText({ distros: tree.distros.map(({ distro }) => summaryOf(distro)) } satisfies DistroList),
  );
  files.set(IMAGES_PATH, documentText(imagesOf(tree)));
  for (const { distro, current, archived } of tree.distros) {
    files.set(distroPath(distro.id), documentText(distro));
    for (const release of distro.releases) {
      const list: BuildList = { distro: distro.id, release: release.id, builds: [...(current.get(release.id) ?? [])] };
      const text = documentText(list);
      files.set(releasePath(distro.id, release.id), text);
      for (const alias of release.aliases) files.set(aliasPath(distro.id, alias), text);
      const builds = archived.get(release.id);
      if (builds !== undefined) files.set(archivePath(distro.id, release.id), documentText({ ...list, builds }));
    }
  }
  return files;
}

/** Lists every current build, in the order of distros and releases. */
export function imagesOf(tree: Tree): ImageList {
  return {
    images: tree.distros.flatMap(({ distro, current }) =>
      distro.releases.flatMap((release) =>
        (current.get(release.id) ?? []).map((build) => ({ distro: summaryOf(distro), release, build }))
      )
    ),
  };
}
