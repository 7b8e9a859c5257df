import type { Image } from "../../../src/contract/image.ts";
import { type AnyCommand, listCommand } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { AGE_COLUMN, BYTES_COLUMN, type Column, ID_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";
import { publicImages } from "./record.ts";

const COLUMNS: readonly Column<Image>[] = [
  ["NAME", (image) => image.name],
  ["ID", (image) => image.id, ID_COLUMN],
  ["OS", (image) => image.os],
  ["VERSION", (image) => image.version],
  ["BRAND", (image) => image.compatibility?.brand],
  ["ARCH", (image) => image.compatibility?.arch],
  ["SIZE", (image) => image.size_bytes, BYTES_COLUMN],
  ["AGE", (image) => image.created_at, AGE_COLUMN],
  ["CREATED_AT", (image) => image.created_at, WIDE_COLUMN],
];

export function list(): AnyCommand {
  return listCommand("list", "List the public images, which every tenant can use")
    .action(withIo(async (io) => {
      const items = await publicImages(io);
      io.table({ items }, items, COLUMNS, "(no images)");
    }));
}
