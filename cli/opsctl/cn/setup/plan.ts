import type { LayoutProposal } from "../../../../src/contract/setup.ts";
import type { ProposedLayout } from "../../../../src/lib/disk-layout/proposal.ts";
import { type AnyCommand } from "../../../framework.ts";
import { usageFailure } from "../../../internal/failure.ts";
import { plainText } from "../../../internal/plain-text.ts";
import { withIo } from "../../../internal/run.ts";
import { resolveNode } from "../../node-name.ts";
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
      const answer = await io.get<LayoutProposal>(proposalPath(await resolveNode(io, name)));
      const planned = plannedLayout(answer, options);
      const json = layout === undefined ? answer : { ...answer, proposal: planned.layout, error: planned.error };
      io.print(json, planText({ name, answer, planned, options }));
    }));
}

export function proposalPath(server_uuid: string): string {
  return `/v1/cns/${server_uuid}/setup-layout-proposal`;
}

type Plan = {
  readonly name: string;
  readonly answer: LayoutProposal;
  readonly planned: { readonly layout?: ProposedLayout; readonly error?: string };
  readonly options: LayoutOptions;
};

function planText({ name, answer, planned: { layout, error }, options }: Plan): string {
  const disks = disksText(answer.disks, layout);
  if (layout === undefined) {
    const supported = answer.supported_layouts.map(plainText).join(", ");
    return `${disks}\n\nNo layout: ${plainText(error ?? "none fits")}\nSupported layouts: ${supported}`;
  }
  const advice = "Advisory: the tool on the node has the final decision.";
  return `${disks}\n\n${poolText(layout)}\n${advice}\n\nTo approve it:\n  ${approveLine(name, layout, options)}`;
}

/**
 * Returns the command that approves the shown layout. Without --layout it names the width and spares of the proposal,
 * otherwise the user's options.
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
