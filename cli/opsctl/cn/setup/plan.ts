import type { CnState } from "../../../../src/contract/enums.ts";
import type { LayoutProposal } from "../../../../src/contract/setup.ts";
import type { ProposedLayout } from "../../../../src/lib/disk-layout/proposal.ts";
import { type AnyCommand } from "../../../framework.ts";
import { usageFailure } from "../../../internal/failure.ts";
import { plainText } from "../../../internal/plain-text.ts";
import { withIo } from "../../../internal/run.ts";
import { findNode } from "../../node-name.ts";
import { disksText, layoutCommand, type LayoutOptions, plannedLayout, poolText } from "./layout.ts";

export function plan(): AnyCommand {
  return layoutCommand(
    "plan",
    "Show a node's disks and the layout that a setup would create; changes nothing",
    "cn-17 --layout mirror",
  )
    .action(withIo(async (io, name, options) => {
      const { width, spares, exclude, cache, compress, layout } = options;
      if (layout === undefined && (!cache || [width, spares, exclude, compress].some((value) => value !== undefined))) {
        throw usageFailure(
          "--width, --spares, --exclude, --no-cache and --compress need --layout; " +
            "without --layout the plan shows the control plane's proposal",
        );
      }
      const { server_uuid, state } = await findNode(io, name);
      const answer = await io.get<LayoutProposal>(proposalPath(server_uuid));
      const planned = plannedLayout(answer, options);
      const json = layout === undefined ? answer : { ...answer, proposal: planned.layout, error: planned.error };
      io.print(json, planText({ name, state, answer, planned, options }));
    }));
}

export function proposalPath(server_uuid: string): string {
  return `/v1/cns/${server_uuid}/setup-layout-proposal`;
}

type Plan = {
  readonly name: string;
  readonly state: CnState;
  readonly answer: LayoutProposal;
  readonly planned: { readonly layout?: ProposedLayout; readonly error?: string };
  readonly options: LayoutOptions;
};

function planText({ name, state, answer, planned: { layout, error }, options }: Plan): string {
  const disks = disksText(answer.disks, layout);
  if (layout === undefined) {
    const supported = answer.supported_layouts.map(plainText).join(", ");
    return `${disks}\n\nNo layout: ${plainText(error ?? "none fits")}\nSupported layouts: ${supported}`;
  }
  const advice = "Advisory: the tool on the node has the final decision.";
  // A setup erases the disks, so the command is shown only for a node that waits for a setup.
  const approval = state === "awaiting_setup"
    ? `To approve it:\n  ${approveLine(name, layout, options)}`
    : `The node is ${state}: only a node in awaiting_setup can be set up.`;
  return `${disks}\n\n${poolText(layout)}\n${advice}\n\n${approval}`;
}

/**
 * Returns the command that approves the shown layout. Without --layout, the command has the width and spares of the
 * proposal. With --layout, it has the user's width and spares.
 */
function approveLine(name: string, { layout, width, spares }: ProposedLayout, options: LayoutOptions): string {
  const fixed = options.layout === undefined ? { width: width ?? undefined, spares } : options;
  return [
    `opsctl cn setup approve ${plainText(name)} --layout ${layout}`,
    ...(fixed.width === undefined ? [] : [`--width ${fixed.width}`]),
    ...(fixed.spares === undefined ? [] : [`--spares ${fixed.spares}`]),
    ...(options.exclude ?? []).map((disk) => `--exclude ${plainText(disk)}`),
    ...(options.cache ? [] : ["--no-cache"]),
    ...(options.compress === undefined ? [] : [`--compress ${options.compress}`]),
  ].join(" ");
}
