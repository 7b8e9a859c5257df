// The documents of a mirror: a complete index with a part of another index's images, unchanged. Archived builds are
// omitted: only the vendor has their files.
import type { Artifact, Distro, Image } from "./model.ts";
import { imagePath } from "./source.ts";

/** Document texts by path. */
export type Documents = ReadonlyMap<string, string>;

/**
 * Returns the documents in an order that is safe over an older tree: a list comes after the documents that it lists.
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
      documents.set(`v1/distros/${id}/releases/${release.id}/index.json`, text);
      for (const alias of release.aliases ?? []) documents.set(`v1/distros/${id}/aliases/${alias}.json`, text);
    }
    // dev_channel is omitted if no release in this index follows it.
    const follows = releases.some(({ aliases }) => (aliases ?? []).includes("dev"));
    const dev_channel = follows ? distro.dev_channel ?? null : null;
    documents.set(`v1/distros/${id}/index.json`, documentText({ ...distro, dev_channel, releases }));
  }
  const summaries = new Map(images.map(({ distro }) => [distro.id, distro]));
  documents.set("v1/index.json", documentText({ distros: [...summaries.values()] }));
  documents.set("v1/images.json", documentText({ images }));
  return documents;
}

/** Returns the images with this mirror as the first location of every file. */
export function withMirrorFirst(images: readonly Image[], base_url: string): Image[] {
  return images.map((image) => {
    const artifacts = image.build.artifacts.map((artifact): Artifact => {
      const path = imagePath(image, artifact).split("/").map(encodeURIComponent).join("/");
      const here = { url: `${base_url}/${path}`, kind: "mirror", redirects_off_host: false };
      // A mirror of a mirror keeps only the vendor's locations.
      const vendor = artifact.locations.filter(({ kind, url }) => kind !== "mirror" || !url.endsWith(`/${path}`));
      return { ...artifact, locations: [here, ...vendor] };
    });
    return { ...image, build: { ...image.build, artifacts } };
  });
}

function documentText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
