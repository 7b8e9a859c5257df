import type { LayoutProposal, SetupApproved } from "../../../../src/contract/setup.ts";
import { type AnyCommand, wholeNumber } from "../../../framework.ts";
import { confirm } from "../../../internal/confirmation.ts";
import { YES_FLAGS } from "../../../internal/delete-command.ts";
import { usageFailure } from "../../../internal/failure.ts";
import type { Io } from "../../../internal/io.ts";
import { plainText } from "../../../internal/plain-text.ts";
import { withIo } from "../../../internal/run.ts";
import { findNode, nodeTitle, resolveNode } from "../../node-name.ts";
import { approvalOf, disksText, layoutCommand, type LayoutOptions, plannedLayout, poolText } from "./layout.ts";
import { proposalPath } from "./plan.ts";
import { waitForSetup } from "./wait.ts";

export function approve(): AnyCommand {
  return layoutCommand(
    "approve",
    "Approve a disk layout and start the setup; destroys the data on every disk of the layout",
    "cn-17 --layout mirror --wait",
  )
    .option("--hostname <hostname>", "hostname of the node; by default the announced hostname")
    .option(YES_FLAGS, "skip the plan and the confirmation")
    .option("--wait", "wait until the setup has ended; exit code 1 if it failed")
    .option("--timeout <seconds>", "with --wait: stop waiting after this time, with exit code 6", wholeNumber(0))
    .action(withIo(async (io, name, { hostname, yes, wait, timeout, ...options }) => {
      const { layout } = options;
      if (layout === undefined) throw usageFailure("--layout is required; see: opsctl cn setup plan");
      if (timeout !== undefined && wait !== true) throw usageFailure("--timeout needs --wait");
      const server_uuid = await resolveNode(io, name);
      // In a script, the required --layout is confirmation enough; only a user on a terminal is asked.
      const can_ask = (await io.environment.keyboard()).isTTY;
      await confirm(io, yes === true || !can_ask, () => question(io, server_uuid, options));
      const body = { disk_layout: layout, ...approvalOf(options), ...(hostname === undefined ? {} : { hostname }) };
      const started = await io.post<SetupApproved>(`/v1/cns/${server_uuid}/approve-setup`, body);
      const { operation_id } = started;
      const text = `Approved setup of CN ${plainText(started.server_uuid)} (state=${plainText(started.state)}); ` +
        `operation ${plainText(operation_id)}`;
      if (wait !== true) return io.print(started, text);
      if (!io.json) io.print(started, text);
      await waitForSetup(io, {
        server_uuid,
        operation_id,
        limit_ms: timeout === undefined ? Infinity : timeout * 1_000,
      });
    }));
}

async function question(io: Io, server_uuid: string, options: LayoutOptions) {
  const [node, answer] = await Promise.all([
    findNode(io, server_uuid),
    io.get<LayoutProposal>(proposalPath(server_uuid)),
  ]);
  const { layout, error } = plannedLayout(answer, options);
  const pool = layout === undefined ? `No layout: ${plainText(error ?? "none fits")}` : poolText(layout);
  return {
    warning: `Setup of ${nodeTitle(node)}\n\n${disksText(answer.disks, layout)}\n\n${pool}\n`,
    names: [node.hostname, node.server_uuid] as const,
  };
}
