import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { titleOf } from "../../internal/record-name.ts";
import { findTag, TAG_ARGUMENT, TAGS_PATH } from "./tag.ts";

export function remove(): AnyCommand {
  return command("delete", "Delete a NIC tag that no external subnet uses", "external")
    .argument(...TAG_ARGUMENT)
    .action(withIo(async (io, name) => {
      const tag = await findTag(io, name);
      await io.send({ method: "DELETE", path: `${TAGS_PATH}/${tag.id}` });
      io.print(null, `Deleted NIC tag ${titleOf(tag)}`);
    }));
}
