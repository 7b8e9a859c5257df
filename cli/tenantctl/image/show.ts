import { type AnyCommand, showCommand } from "../../framework.ts";
import { withIo } from "../open-io.ts";
import { NAME_HELP } from "../record/scope.ts";
import { findImage, imageText } from "./image.ts";

export function show(): AnyCommand {
  return showCommand("show", "Show one image", "debian-12")
    .argument("<image>", NAME_HELP)
    .action(withIo(async (io, name) => {
      const image = await findImage(io, name);
      io.print(image, imageText(image));
    }));
}
