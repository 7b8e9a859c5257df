import type { DrainStarted } from "../../../src/contract/drain.ts";
import { type AnyCommand, command, each, wholeNumber } from "../../framework.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure, usageFailure } from "../../internal/failure.ts";
import { endText, follow } from "../../internal/operation/follow.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { labelFilter } from "../../internal/labels.ts";
import { resolveNode } from "../node-name.ts";
import { drainLabel } from "./drain-label.ts";
import { previewText } from "./drain-preview.ts";
import { drainResult, instancesText, remainingText } from "./remaining-text.ts";

export function drain(): AnyCommand {
  return command("drain", "Cordon a node, or the nodes with a label, and move the instances to other nodes", "cn-17")
    .argument("[node]", "UUID, unique UUID prefix or hostname")
    .option("--label <label>", "drain the nodes with this label, KEY=VALUE or KEY; may be repeated", each)
    .option(
      "--max-unavailable <number>",
      "with --label: maximum number of nodes that are drained at once (default 1)",
      wholeNumber(1),
    )
    .option("--dry-run", "show where the instances would go; change nothing")
    .option("--no-wait", "do not wait: print the operation")
    .action(withIo(async (io, name, { label: labels, maxUnavailable, dryRun, wait }) => {
      const label = labelFilter(labels);
      if (label !== undefined) {
        if (name !== undefined) throw usageFailure("name a node or pass --label, not both");
        return await drainLabel(io, {
          label,
          max_unavailable: maxUnavailable ?? 1,
          dry_run: dryRun === true,
          wait: wait !== false,
        });
      }
      if (name === undefined) throw usageFailure("name a node, or pass --label");
      if (maxUnavailable !== undefined) throw usageFailure("--max-unavailable needs --label");
      const path = `/v1/cns/${await resolveNode(io, name)}/drain`;
      const body = { dry_run: dryRun === true };
      const started = await io.send<DrainStarted>({ method: "POST", path, body });
      const { operation_id } = started;
      if (operation_id === null) return io.print(started, previewText(started));
      if (!wait) {
        const note = `Operation ${operation_id} drains ${plainText(name)}; to wait for it, run: opsctl operation wait`;
        return io.print(started, `${note} ${operation_id}\n${previewText(started)}`);
      }
      const ended = await follow(io, { id: operation_id, limit_ms: Infinity });
      const result = drainResult(ended);
      if (result === null) throw new Failure(endText(ended), EXIT.failure);
      const { moved, remaining } = result;
      io.print(
        result,
        `Moved ${instancesText(moved)} from ${plainText(name)}; the node is cordoned${remainingText(remaining)}`,
      );
      if (remaining.length > 0) {
        throw new Failure(`still on ${plainText(name)}: ${instancesText(remaining.length)}`, EXIT.failure);
      }
    }));
}
