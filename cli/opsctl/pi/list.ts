import type { StagedImage } from "../../../src/contract/boot.ts";
import { type AnyCommand, listCommand } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import type { Column } from "../../internal/table.ts";

export const STAGED_PATH = "/v2/platform-images";

const COLUMNS: readonly Column<StagedImage>[] = [
  ["STAMP", (image) => image.stamp],
  ["KIND", (image) => image.kind],
  ["STAGED_AT", (image) => image.staged_at],
  ["STAGED_BY", (image) => image.staged_by],
];

export function list(): AnyCommand {
  return listCommand("list", "List the platform images that booters have staged")
    .action(withIo(async (io) => {
      const items = await io.all<StagedImage>(STAGED_PATH);
      io.table({ items }, items, COLUMNS, "(no platform images)");
    }));
}
