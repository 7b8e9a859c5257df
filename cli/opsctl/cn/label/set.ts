import type { CnPlacement, CnPlacementPatch } from "../../../../src/contract/cn-placement.ts";
import type { CnRoleBody, CnView } from "../../../../src/contract/cn.ts";
import { CN_ROLES } from "../../../../src/contract/enums.ts";
import { type AnyCommand, command, each, oneOf } from "../../../framework.ts";
import { usageFailure } from "../../../internal/failure.ts";
import { labelText, parseLabels } from "../../../internal/labels.ts";
import { plainText } from "../../../internal/plain-text.ts";
import { withIo } from "../../../internal/run.ts";
import { NODE_ARGUMENT, resolveNode } from "../../node-name.ts";

export function set(): AnyCommand {
  return command("set", "Set or remove labels of a node, or set its placement role", "cn-17 rack=a3")
    .argument(...NODE_ARGUMENT)
    .argument("[labels...]", "labels to set: KEY=VALUE; labels that are not named stay")
    .option("--remove-label <key>", "label to remove; may be repeated", each)
    .addOption(oneOf("--role <role>", "placement role", CN_ROLES))
    .action(withIo(async (io, name, words, { removeLabel = [], role }) => {
      const labels = { ...Object.fromEntries(removeLabel.map((key) => [key, null])), ...parseLabels(words) };
      const isLabelled = Object.keys(labels).length > 0;
      if (!isLabelled && role === undefined) {
        throw usageFailure("there is nothing to set; pass a label, --remove-label or --role");
      }
      const id = await resolveNode(io, name);
      if (isLabelled) {
        const body: CnPlacementPatch = { labels };
        const placement = await io.send<CnPlacement>({ method: "PATCH", path: `/v1/cns/${id}/placement`, body });
        io.print(placement, `Set CN ${plainText(id)} labels to ${plainText(labelText(placement.labels)) || "none"}`);
      }
      if (role === undefined) return;
      const body: CnRoleBody = { role };
      const node = await io.post<CnView>(`/v1/cns/${id}/role`, body);
      io.print(node, `Set CN ${plainText(id)} role to ${plainText(node.role)}`);
    }));
}
