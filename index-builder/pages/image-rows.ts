// Returns the data of the images page: one row for each artifact in images.json that has a location.
import type { ImageList } from "../tree/model.ts";

export type ImageRow = {
  readonly distro: string;
  readonly name: string;
  readonly release: string;
  readonly title: string;
  readonly aliases: readonly string[];
  readonly eol_date: string | null;
  readonly build: string;
  readonly variant: string;
  readonly is_default: boolean;
  readonly arch: string;
  readonly format: string;
  readonly compression: string;
  readonly size: number | null;
  readonly url: string;
  readonly digest: { readonly algorithm: string; readonly value: string } | null;
  readonly signed: boolean;
};

export function imageRows({ images }: ImageList): ImageRow[] {
  return images.flatMap(({ distro, release, build }) =>
    build.artifacts.flatMap((artifact) => {
      const location = artifact.locations[0];
      if (location === undefined) return [];
      const digest = artifact.integrity?.digests[0];
      return [{
        distro: distro.id,
        name: distro.name ?? distro.id,
        release: release.id,
        title: release.title ?? release.version ?? release.id,
        aliases: release.aliases,
        eol_date: release.eol_date,
        build: build.build,
        variant: artifact.variant ?? "-",
        is_default: artifact.default_variant === true,
        arch: artifact.arch,
        format: artifact.format,
        compression: artifact.compression,
        size: artifact.size,
        url: location.url,
        digest: digest === undefined ? null : { algorithm: digest.algorithm, value: digest.value },
        signed: (artifact.integrity?.signatures.length ?? 0) > 0,
      }];
    })
  );
}
