import { type AnyCommand, showCommand } from "../../framework.ts";
import { blockText } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { findImage } from "./image.ts";

export function show(): AnyCommand {
  return showCommand("show", "Show one image", "debian-12")
    .argument("<image>", "UUID, unique UUID prefix or name")
    .action(withIo(async (io, name) => {
      const image = await findImage(io, name);
      io.print(
        image,
        blockText([
          ["id", image.id],
          ["name", image.name],
          ["os", image.os],
          ["version", image.version],
          ["size", image.size],
          ["sha256", image.sha256],
        ]),
      );
    }));
}
