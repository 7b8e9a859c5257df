import type { AnyCommand } from "../framework.ts";
import { blockText, type Column, tableText } from "../internal/table.ts";
import { EXIT } from "../internal/exit-code.ts";
import { Failure } from "../internal/failure.ts";
import { isMeant } from "./filter.ts";
import type { Host } from "./host.ts";
import type { Artifact, Image } from "./model.ts";
import { picking } from "./options.ts";
import { findImage, imageName } from "./pick.ts";
import { checkText } from "./search.ts";
import { sizeText } from "../internal/byte-size.ts";
import { openSource } from "./source.ts";

const ARTIFACT_COLUMNS: readonly Column<Artifact>[] = [
  ["VARIANT", (artifact) => artifact.variant],
  ["DEFAULT", (artifact) => artifact.default_variant === true ? "yes" : "no"],
  ["ARCH", (artifact) => artifact.arch],
  ["FORMAT", (artifact) => artifact.format],
  ["COMPRESSION", (artifact) => artifact.compression],
  ["SIZE", (artifact) => artifact.size === null || artifact.size === undefined ? null : sizeText(artifact.size)],
  ["FIRMWARE", (artifact) => (artifact.firmware ?? []).join(",")],
  ["DATASOURCES", (artifact) => (artifact.datasources ?? []).join(",")],
  ["CHECK", checkText],
];

export function info(host: Host): AnyCommand {
  return picking("info", "Show one current or archived build and its files", "debian/12")
    .argument("<image>", "DISTRO/RELEASE or DISTRO/RELEASE/BUILD; RELEASE may be an alias or a version")
    .action(host.withIo(async (io, reference, options) => {
      const source = await openSource(host, io, options.index);
      const image = await findImage(source, reference);
      const artifacts = image.build.artifacts.filter((artifact) => isMeant(artifact, options));
      if (artifacts.length === 0) {
        throw new Failure(
          `${imageName(image)} has no file that matches the options; without options, image info lists all its files`,
          EXIT.not_found,
        );
      }
      const shown = { ...image, build: { ...image.build, artifacts } };
      io.print(shown, imageText(shown));
    }));
}

function imageText(image: Image): string {
  const { distro, release, build } = image;
  const block = blockText([
    ["image", imageName(image)],
    ["distro", distro.name ?? distro.id],
    ["release", release.title ?? release.id],
    ["version", build.point_release ?? release.version],
    ["aliases", (release.aliases ?? []).join(",")],
    ["eol_date", release.eol_date],
    ["published_at", build.published_at],
    ["first_seen", build.first_seen],
  ]);
  return [block, tableText(ARTIFACT_COLUMNS, build.artifacts), ...build.artifacts.map(fileText)].join("\n\n");
}

function fileText({ locations, integrity }: Artifact): string {
  return blockText([
    ...locations.map(({ url }) => ["url", url] as const),
    ...(integrity?.digests ?? []).map(({ algorithm, value }) => [algorithm, value] as const),
    ...(integrity?.digests ?? []).flatMap(({ source }) => source?.url ? [["listed_in", source.url] as const] : []),
    ...(integrity?.signatures ?? []).map(({ url }) => ["signature", url] as const),
  ]);
}
