import type { Image } from "../../../src/contract/image.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../open-io.ts";
import { lineOf } from "../record/line.ts";
import { NAME_HELP } from "../record/scope.ts";
import { labeledOptions, labeledPatch } from "../record/update.ts";
import { imageText, PATH, resolveImage } from "./image.ts";

export function update(): AnyCommand {
  const made = command("update", "Change the name, description or labels of an image", "debian-12 --label os=debian");
  return labeledOptions(made.argument("<image>", NAME_HELP)).action(withIo(async (io, ...given) => {
    const { argument, options } = lineOf(given);
    const body = labeledPatch(options);
    const path = `${PATH}/${await resolveImage(io, argument)}`;
    const image = await io.send<Image>({ method: "PATCH", path, body });
    io.print(image, imageText(image));
  }));
}
