import { type AnyCommand, showCommand } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { findTag, TAG_ARGUMENT, tagText } from "./tag.ts";

export function show(): AnyCommand {
  return showCommand("show", "Show one NIC tag", "external")
    .argument(...TAG_ARGUMENT)
    .action(withIo(async (io, name) => {
      const tag = await findTag(io, name);
      io.print(tag, tagText(tag));
    }));
}
