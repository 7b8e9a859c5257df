import type { Image } from "../../../src/contract/image.ts";
import { type AnyCommand, listCommand } from "../../framework.ts";
import { LABEL_FILTER_OPTION, labelFilter } from "../../internal/labels.ts";
import { BYTES_COLUMN, type Column, ID_COLUMN } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { visibleImages } from "./image.ts";

const COLUMNS: readonly Column<Image>[] = [
  ["NAME", (image) => image.name],
  ["ID", (image) => image.id, ID_COLUMN],
  ["OS", (image) => image.os],
  ["VERSION", (image) => image.version],
  ["SIZE", (image) => image.size_bytes, BYTES_COLUMN],
  ["SCOPE", (image) => image.scope.kind],
];

export function list(): AnyCommand {
  return listCommand("list", "List the images that you can use: public ones, and the silo's, tenant's and project's")
    .option(...LABEL_FILTER_OPTION)
    .action(withIo(async (io, { label }) => {
      const items = await visibleImages(io, labelFilter(label));
      io.table({ items }, items, COLUMNS, "(no images)");
    }));
}
