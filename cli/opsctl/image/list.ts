import type { Image } from "../../../src/contract/image.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { sizeText } from "../../image/size-text.ts";
import { withIo } from "../../internal/run.ts";
import type { Column } from "../../internal/table.ts";
import { publicImages } from "./record.ts";

const COLUMNS: readonly Column<Image>[] = [
  ["ID", (image) => image.id],
  ["NAME", (image) => image.name],
  ["OS", (image) => image.os],
  ["VERSION", (image) => image.version],
  ["BRAND", (image) => image.compatibility?.brand],
  ["ARCH", (image) => image.compatibility?.arch],
  ["SIZE", (image) => sizeText(image.size_bytes)],
  ["CREATED_AT", (image) => image.created_at],
];

export function list(): AnyCommand {
  return command("list", "List the public images, which every tenant can use")
    .action(withIo(async (io) => {
      const items = await publicImages(io);
      io.table({ items }, items, COLUMNS, "(no images)");
    }));
}
