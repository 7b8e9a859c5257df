// Builds the documents of an image index with a few invented images (docs/image-index.md).
import type { Artifact, Distro, Image, Location } from "../../cli/image/model.ts";

export function primary(url: string): Location {
  return { url, kind: "primary", redirects_off_host: false } as Location;
}

export function artifactOf(
  change: Partial<Artifact>,
  digests: NonNullable<NonNullable<Artifact["integrity"]>["digests"]>,
): Artifact {
  return {
    variant: "server",
    default_variant: true,
    arch: "x86_64",
    format: "qcow2",
    compression: "none",
    firmware: [],
    datasources: [],
    ssh_key_injection: null,
    size: null,
    locations: [],
    ...change,
    integrity: { digests, signatures: [], http: null } as Artifact["integrity"],
  } as Artifact;
}

export function buildOf(build: string, artifacts: Artifact[]): Image["build"] {
  return {
    build,
    point_release: null,
    published_at: null,
    first_seen: "2026-10-01T00:00:00Z",
    osinfo: null,
    artifacts,
  } as Image["build"];
}

/** The names of a distribution and one of its releases. */
export type ReleaseNames = {
  readonly distro: string;
  readonly release: string;
  readonly aliases: readonly string[];
  readonly version: string;
};

export function releaseOf({ distro: id, release, aliases, version }: ReleaseNames): Omit<Image, "build"> {
  return {
    distro: { id, name: id, os_family: "linux", homepage: null } as Image["distro"],
    release: {
      id: release,
      version,
      title: `${id} ${version}`,
      aliases,
      eol_date: null,
      osinfo: null,
    } as Image["release"],
  };
}

/** Returns the documents with their paths below /v1. */
export function documentsOf(images: readonly Image[]): [path: string, document: unknown][] {
  const distros = [...new Map(images.map(({ distro }) => [distro.id, distro])).values()];
  const below = distros.flatMap((distro): [string, unknown][] => {
    const mine = images.filter((image) => image.distro.id === distro.id);
    const releases = [...new Map(mine.map(({ release }) => [release.id, release])).values()];
    const buildsOf = (id: string) => mine.filter(({ release }) => release.id === id).map(({ build }) => build);
    return [
      [`distros/${distro.id}/index.json`, { ...distro, dev_channel: null, releases } as Distro],
      ...releases.map(({ id }): [string, unknown] => [
        `distros/${distro.id}/releases/${id}/index.json`,
        { distro: distro.id, release: id, builds: buildsOf(id) },
      ]),
    ];
  });
  return [["images.json", { images }], ["index.json", { distros }], ...below];
}
