import type { Image } from "../../../src/contract/image.ts";
import { type AnyCommand, command } from "../../framework.ts";
import type { Column } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { visibleImages } from "./image.ts";

const COLUMNS: readonly Column<Image>[] = [
  ["ID", (image) => image.id],
  ["NAME", (image) => image.name],
  ["OS", (image) => image.os],
  ["VERSION", (image) => image.version],
  ["SIZE", (image) => image.size],
  ["SCOPE", (image) => image.scope.kind],
];

export function list(): AnyCommand {
  return command(
    "list",
    "List the images that you can use: public ones, and the silo's, tenant's and project's",
  )
    .action(withIo(async (io) => {
      const items = await visibleImages(io);
      io.table({ items }, items, COLUMNS, "(no images)");
    }));
}
