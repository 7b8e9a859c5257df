import type { PlacementGroup, PlacementGroupBody } from "../../../src/contract/placement-group.ts";
import {
  PLACEMENT_GROUP_LEVELS,
  PLACEMENT_GROUP_POLICIES,
  PLACEMENT_GROUP_STRICTNESSES,
} from "../../../src/contract/enums.ts";
import { type AnyCommand, command, oneOf } from "../../framework.ts";
import { LABEL_OPTION, parseLabels } from "../../internal/labels.ts";
import { blockText } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { needProject, projectScope } from "../scope.ts";
import { PLACEMENT_GROUP } from "./placement-group.ts";

export function create(): AnyCommand {
  return command(
    "create",
    "Create a placement group, which instances join when they are created",
    "--name web --policy anti_affinity --level fault_domain",
  )
    .requiredOption("--name <name>", "1 to 63 bytes; unique in the project")
    .option("--description <text>", "free-form description")
    .option(...LABEL_OPTION)
    .addOption(
      oneOf(
        "--policy <policy>",
        "whether to keep the instances apart (the default) or together",
        PLACEMENT_GROUP_POLICIES,
      ),
    )
    .addOption(
      oneOf(
        "--level <level>",
        "whether the policy is about nodes (the default) or about fault domains",
        PLACEMENT_GROUP_LEVELS,
      ),
    )
    .addOption(
      oneOf(
        "--strictness <strictness>",
        "whether to refuse a node that does not fit (the default), or to rank it last",
        PLACEMENT_GROUP_STRICTNESSES,
      ),
    )
    .action(withIo(async (io, { name, description, label, policy, level, strictness }) => {
      await needProject(io, "create a placement group");
      const labels = label && parseLabels(label);
      const body: Partial<PlacementGroupBody> = { name, description, labels, policy, level, strictness };
      const query = await projectScope(io);
      const group = await io.send<PlacementGroup>({ method: "POST", path: PLACEMENT_GROUP.path, query, body });
      io.print(group, blockText(PLACEMENT_GROUP.lines(group)));
    }));
}
