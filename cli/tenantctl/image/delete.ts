import type { Image } from "../../../src/contract/image.ts";
import { type AnyCommand } from "../../framework.ts";
import { confirmOnTerminal } from "../../internal/confirmation.ts";
import { deleteCommand } from "../../internal/delete-command.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../open-io.ts";
import { NAME_HELP } from "../record/scope.ts";
import { PATH, resolveImage } from "./image.ts";

export function remove(): AnyCommand {
  return deleteCommand("delete", "Delete an unused image of the project, tenant or silo", "web-golden", { asks: true })
    .argument("<image>", NAME_HELP)
    .action(withIo(async (io, name, { yes }) => {
      const id = await resolveImage(io, name);
      const path = `${PATH}/${id}`;
      await confirmOnTerminal(io, yes === true, async () => {
        const { name } = await io.get<Image>(path);
        const warning = plainText(
          `No instance can be created from image ${name} any more. Its uploaded file, if it has one, is deleted.`,
        );
        return { warning, names: [name, id] };
      });
      await io.send({ method: "DELETE", path });
      io.say(`Image ${id} deleted.`);
    }));
}
