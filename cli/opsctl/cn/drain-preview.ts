import type { DrainPreview, NotPlaceableInstance, PlaceableInstance } from "../../../src/contract/placement.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { type Column, tableText } from "../../internal/table.ts";
import { plainText } from "../../internal/plain-text.ts";
import { NODE_ARGUMENT, resolveNode } from "../node-name.ts";

type Row = PlaceableInstance | NotPlaceableInstance;

const COLUMNS: readonly Column<Row>[] = [
  ["INSTANCE_ID", (row) => row.instance_id],
  ["NAME", (row) => row.instance_name],
  ["CPU", (row) => row.instance_cpu],
  ["RAM_MB", (row) => row.instance_ram_mb],
  ["TARGET", (row) => "target_cn_uuid" in row ? `${row.target_cn_hostname} (${row.target_cn_uuid})` : undefined],
  ["REASON", (row) => "reason" in row ? row.reason : undefined],
  ["REMEDY", (row) => "remedy" in row ? row.remedy : undefined],
];

export function drainPreview(): AnyCommand {
  return command("drain-preview", "Show where the instances of a node would be placed; moves no instance", "cn-17")
    .argument(...NODE_ARGUMENT)
    .action(withIo(async (io, name) => {
      const preview = await io.post<DrainPreview>(`/v1/cns/${await resolveNode(io, name)}/drain/preview`);
      io.print(preview, previewText(preview));
    }));
}

/** Returns the text of a preview: where each instance would go, or why it cannot move. */
export function previewText(preview: DrainPreview): string {
  const { instances_on_cn, placeable } = preview;
  return planText(preview, `${placeable.length} of ${instances_on_cn} instances fit on other nodes`);
}

/** Returns the text of a preview: the summary, a warning about quorum members, and the instances. */
export function planText(preview: DrainPreview, summary: string): string {
  const { instances_on_cn, placeable, not_placeable, quorum_at_risk } = preview;
  if (instances_on_cn === 0) return "(no instances)";
  const quorum = quorum_at_risk.length === 0
    ? ""
    : `\nMove these one at a time, because they look like members of a quorum: ${
      quorum_at_risk.map(plainText).join(", ")
    }`;
  return `${summary}${quorum}\n\n${tableText(COLUMNS, [...not_placeable, ...placeable])}`;
}
