// Builds the documents of a mirror. A mirror is an image index of its own that lists selected images of another index.
// Documents keep fields that this version does not know. Archived builds are not mirrored, because only the vendor's
// vault has their files.
import type { Artifact, Distro, Image } from "./model.ts";
import { imagePath } from "./source.ts";
import { documentText } from "../../src/lib/image-index/documents.ts";
import { aliasPath, distroPath, IMAGES_PATH, INDEX_PATH, releasePath } from "../../src/lib/image-index/paths.ts";

/** Text of each document, by its path in the mirror. */
export type Documents = ReadonlyMap<string, string>;

/**
 * Returns the documents in the order in which the caller must write them: each list after the documents that it lists.
 * So while an older tree is overwritten, a reader finds every listed document.
 * @param distros the distro file of each distro of `images`
 */
export function mirrorDocuments(images: readonly Image[], distros: ReadonlyMap<string, Distro>): Documents {
  const documents = new Map<string, string>();
  for (const [id, distro] of distros) {
    const mine = images.filter((image) => image.distro.id === id);
    const releases = distro.releases.filter((release) => mine.some((image) => image.release.id === release.id));
    for (const release of releases) {
      const builds = mine.filter((image) => image.release.id === release.id).map(({ build }) => build);
      const text = documentText({ distro: id, release: release.id, builds });
      documents.set(releasePath(id, release.id), text);
      for (const alias of release.aliases ?? []) documents.set(aliasPath(id, alias), text);
    }
    // If no mirrored release has the alias dev, the mirror offers no development channel of the distro.
    const follows = releases.some(({ aliases }) => (aliases ?? []).includes("dev"));
    const dev_channel = follows ? distro.dev_channel ?? null : null;
    documents.set(distroPath(id), documentText({ ...distro, dev_channel, releases }));
  }
  const summaries = new Map(images.map(({ distro }) => [distro.id, distro]));
  documents.set(INDEX_PATH, documentText({ distros: [...summaries.values()] }));
  documents.set(IMAGES_PATH, documentText({ images }));
  return documents;
}

/** Returns the images with this mirror as the first location of every file. */
export function withMirrorFirst(images: readonly Image[], base_url: string): Image[] {
  return images.map((image) => {
    const artifacts = image.build.artifacts.map((artifact): Artifact => {
      const path = imagePath(image, artifact).split("/").map(encodeURIComponent).join("/");
      const here = { url: `${base_url}/${path}`, kind: "mirror", redirects_off_host: false };
      // If the index is itself a mirror, drops that mirror's location.
      const vendor = artifact.locations.filter(({ kind, url }) => kind !== "mirror" || !url.endsWith(`/${path}`));
      return { ...artifact, locations: [here, ...vendor] };
    });
    return { ...image, build: { ...image.build, artifacts } };
  });
}
