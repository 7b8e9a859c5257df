import type { CnView } from "../../../src/contract/cn.ts";
import type { PlacedInstance } from "../../../src/contract/instance.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { confirm } from "../../internal/confirmation.ts";
import { YES_FLAGS } from "../../internal/delete-command.ts";
import type { Io } from "../../internal/io.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { askAbout, NODE_ARGUMENT, resolveNode } from "../node-name.ts";

/** Maximum number of instances that the question names. */
const NAMED_MAX = 10;

export function disable(): AnyCommand {
  return command(
    "disable",
    "Disable a compute node; its API key stays valid, and `cn enable` returns the node to service",
    "cn-17",
  )
    .argument(...NODE_ARGUMENT)
    .option(YES_FLAGS, "do not ask for confirmation if instances are on the node")
    .action(withIo(async (io, name, { yes }) => {
      const server_uuid = await resolveNode(io, name);
      if (yes !== true) await confirmInstances(io, server_uuid);
      const node = await io.post<CnView>(`/v1/cns/${server_uuid}/disable`);
      io.print(node, `Disabled CN ${plainText(node.server_uuid)} (state=${plainText(node.state)})`);
    }));
}

/**
 * Asks for confirmation if instances are on the node: they cannot be started, stopped or deleted while the node is
 * disabled.
 */
async function confirmInstances(io: Io, server_uuid: string): Promise<void> {
  const instances = await io.all<PlacedInstance>(`/v1/system/cns/${server_uuid}/instances`);
  if (instances.length === 0) return;
  const more = instances.length - NAMED_MAX;
  const lines = [
    ...instances.slice(0, NAMED_MAX).map(({ name, id, lifecycle }) =>
      plainText(`  ${name} (${id}, ${lifecycle.state})`)
    ),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
  await confirm(io, false, () =>
    askAbout(io, server_uuid, (title) =>
      `Disable ${title}:\n` +
      "These instances continue to run, but they cannot be started, stopped or deleted until the node is enabled:\n" +
      lines.join("\n")));
}
