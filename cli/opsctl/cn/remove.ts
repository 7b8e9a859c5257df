import { type AnyCommand } from "../../framework.ts";
import { confirm } from "../../internal/confirmation.ts";
import { deleteCommand } from "../../internal/delete-command.ts";
import { withIo } from "../../internal/run.ts";
import { askAbout, NODE_ARGUMENT, resolveNode } from "../node-name.ts";

export function remove(): AnyCommand {
  return deleteCommand("remove", "Remove a disabled, pending or awaiting_setup node and revoke its key", "cn-17", {
    asks: true,
  })
    .argument(...NODE_ARGUMENT)
    .action(withIo(async (io, name, { yes }) => {
      const server_uuid = await resolveNode(io, name);
      await confirm(io, yes === true, () =>
        askAbout(io, server_uuid, (title) =>
          `Remove ${title}:\n` +
          "its record and its API key are deleted for good, and its boot records are decommissioned.\n" +
          "To use the machine again, reactivate each of its MACs and enrol it from the start."));
      await io.send({ method: "DELETE", path: `/v1/cns/${server_uuid}` });
      io.print(null, `Removed CN ${server_uuid}`);
    }));
}
