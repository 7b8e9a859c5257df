import type { CnView } from "../../../src/contract/cn.ts";
import { type AnyCommand, each } from "../../framework.ts";
import { confirm } from "../../internal/confirmation.ts";
import { deleteCommand } from "../../internal/delete-command.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure, reworded, usageFailure } from "../../internal/failure.ts";
import type { Io } from "../../internal/io.ts";
import { labelFilter } from "../../internal/labels.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { askAbout, NODES_PATH, nodeTitle, resolveNode } from "../node-name.ts";

const CONSEQUENCES = "It loses its API key and its setup, and waits for setup again.\n" +
  "It keeps running until it reboots. Its disks are not changed.";
const NEXT = "enrols again at its next boot; approve its setup after it announces itself from the enrolment image";

export function factoryReset(): AnyCommand {
  return deleteCommand(
    "factory-reset",
    "Reset a node, or the nodes with a label, for a new setup; the disks stay as they are",
    "cn-17",
    { asks: true },
  )
    .argument("[node]", "UUID, unique UUID prefix or hostname of an approved or disabled node")
    .option("--label <label>", "reset the nodes with this label, KEY=VALUE or KEY; may be repeated", each)
    .action(withIo(async (io, name, { label: labels, yes }) => {
      const label = labelFilter(labels);
      if (label !== undefined && name !== undefined) throw usageFailure("name a node or pass --label, not both");
      if (label !== undefined) return await resetLabel(io, label, yes === true);
      if (name === undefined) throw usageFailure("name a node, or pass --label");
      const server_uuid = await resolveNode(io, name);
      await confirm(io, yes === true, () => askAbout(io, server_uuid, (title) => `Reset ${title}.\n${CONSEQUENCES}`));
      const node = await reset(io, server_uuid);
      io.print(node, resetText(node));
      io.note(`The node ${NEXT}`);
    }));
}

/**
 * Resets the nodes one after another, in the order of their hostnames. Stops at the first node that cannot be reset.
 */
async function resetLabel(io: Io, label: string, yes: boolean): Promise<void> {
  const found = await io.all<CnView>(NODES_PATH, { label });
  const nodes = found.filter(({ state }) => state === "approved" || state === "disabled")
    .sort((a, b) => a.hostname < b.hostname ? -1 : 1);
  if (nodes.length === 0) {
    throw new Failure(`no approved or disabled node has the label ${plainText(label)}`, EXIT.failure);
  }
  await confirm(io, yes, () => {
    const warning = `Reset ${nodes.length} nodes:\n${nodes.map(nodeTitle).join("\n")}\n${CONSEQUENCES}`;
    return Promise.resolve({ warning, names: [label] });
  });
  const done: CnView[] = [];
  for (const node of nodes) {
    try {
      done.push(await reset(io, node.server_uuid));
    } catch (error) {
      if (done.length > 0) io.print(done, done.map(resetText).join("\n"));
      const why = (error as Error).message;
      const stopped = `stopped at ${nodeTitle(node)} after ${done.length} of ${nodes.length} nodes: ${why}`;
      throw error instanceof Failure ? reworded(error, stopped) : error;
    }
  }
  io.print(done, done.map(resetText).join("\n"));
  io.note(`Each node ${NEXT}`);
}

function reset(io: Io, server_uuid: string): Promise<CnView> {
  return io.post<CnView>(`/v1/cns/${server_uuid}/factory-reset`);
}

function resetText({ server_uuid, state }: CnView): string {
  return `Reset CN ${plainText(server_uuid)} (state=${plainText(state)})`;
}
