import type { CnView } from "../../../src/contract/cn.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { confirm } from "../../internal/confirmation.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { askAbout, NODE_ARGUMENT, resolveNode } from "../node-name.ts";

export function factoryReset(): AnyCommand {
  return command(
    "factory-reset",
    "Reset an approved or disabled node for a new setup; its disks stay as they are",
    "cn-17",
  )
    .argument(...NODE_ARGUMENT)
    .option("--yes", "do not ask for confirmation")
    .action(withIo(async (io, name, { yes }) => {
      const server_uuid = await resolveNode(io, name);
      await confirm(io, yes === true, () =>
        askAbout(io, server_uuid, (title) =>
          `Reset ${title}:\n` +
          "the node loses its API key and its setup, and waits for setup again.\n" +
          "It keeps running until it reboots. Its disks are not changed."));
      const node = await io.post<CnView>(`/v1/cns/${server_uuid}/factory-reset`);
      io.print(node, `Reset CN ${plainText(node.server_uuid)} (state=${plainText(node.state)})`);
      io.note(
        "The node enrols again at its next boot; approve its setup after it announces itself from the enrolment image",
      );
    }));
}
