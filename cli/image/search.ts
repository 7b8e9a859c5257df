import type { AnyCommand } from "../framework.ts";
import { BYTES_COLUMN, type Column } from "../internal/table.ts";
import { filterImages } from "./filter.ts";
import type { Host } from "./host.ts";
import type { Artifact, Image } from "./model.ts";
import { filtering } from "./options.ts";
import { imageName } from "./pick.ts";
import { openSource } from "./source.ts";
import { traceable } from "./vendor-check.ts";

type Row = { readonly name: string; readonly image: Image; readonly artifact: Artifact };

const COLUMNS: readonly Column<Row>[] = [
  ["IMAGE", ({ image: { distro, release } }) => `${distro.id}/${release.id}`],
  ["VERSION", ({ image }) => image.build.point_release ?? image.release.version],
  ["ALIASES", ({ image }) => (image.release.aliases ?? []).join(",")],
  ["BUILD", ({ image }) => image.build.build],
  ["VARIANT", ({ artifact }) => artifact.variant],
  ["ARCH", ({ artifact }) => artifact.arch],
  ["FORMAT", ({ artifact }) => artifact.format],
  ["SIZE", ({ artifact }) => artifact.size, BYTES_COLUMN],
  ["CHECK", ({ artifact }) => checkText(artifact)],
];

export function search(host: Host): AnyCommand {
  return filtering("search", "List the current images of an index", "--distro debian --arch x86_64")
    .action(host.withIo(async (io, options) => {
      const source = await openSource(host, io, options.index);
      const images = filterImages(await source.images(), options);
      const items = images.map((image) => ({ name: imageName(image), ...image }));
      const rows = items.flatMap((image) =>
        image.build.artifacts.map((artifact) => ({ name: image.name, image, artifact }))
      );
      io.table({ items }, rows, COLUMNS, "(no images)");
    }));
}

/**
 * Returns whether a download can be verified against the vendor's document, only against the index, or not at all, and
 * whether a signature exists.
 */
export function checkText(artifact: Artifact): string {
  const signed = (artifact.integrity?.signatures ?? []).length > 0;
  return signed ? `${traceable(artifact)},signed` : traceable(artifact);
}
