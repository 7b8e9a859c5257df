import type { DrainResult, DrainStarted, RemainingInstance } from "../../../src/contract/drain.ts";
import type { OperationView } from "../../../src/contract/operation.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure } from "../../internal/failure.ts";
import { endText, follow } from "../../internal/operation/follow.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { type Column, tableText } from "../../internal/table.ts";
import { NODE_ARGUMENT, resolveNode } from "../node-name.ts";
import { previewText } from "./drain-preview.ts";

const COLUMNS: readonly Column<RemainingInstance>[] = [
  ["INSTANCE_ID", (row) => row.instance_id],
  ["NAME", (row) => row.instance_name],
  ["REASON", (row) => row.reason],
  ["REMEDY", (row) => row.remedy],
];

export function drain(): AnyCommand {
  return command("drain", "Cordon a node and move its instances to other nodes", "cn-17")
    .argument(...NODE_ARGUMENT)
    .option("--dry-run", "show where the instances would go; change nothing")
    .option("--no-wait", "do not wait: print the operation")
    .action(withIo(async (io, name, { dryRun, wait }) => {
      const path = `/v1/cns/${await resolveNode(io, name)}/drain`;
      const body = { dry_run: dryRun === true };
      const started = await io.send<DrainStarted>({ method: "POST", path, body });
      const { operation_id } = started;
      if (operation_id === null) return io.print(started, previewText(started));
      if (!wait) {
        const note = `Operation ${operation_id} drains CN ${
          plainText(name)
        }; to wait for it, run: opsctl operation wait`;
        return io.print(started, `${note} ${operation_id}\n${previewText(started)}`);
      }
      const ended = await follow(io, { id: operation_id, limit_ms: Infinity });
      if (ended.state !== "succeeded") throw new Failure(endText(ended), EXIT.failure);
      const result = resultOf(ended);
      const { moved, remaining } = result;
      io.print(
        result,
        `Moved ${moved} instances from CN ${plainText(name)}; the node is cordoned${remainingText(remaining)}`,
      );
      if (remaining.length > 0) {
        throw new Failure(`${remaining.length} instances are still on CN ${plainText(name)}`, EXIT.failure);
      }
    }));
}

function resultOf({ steps }: OperationView): DrainResult {
  return steps.at(-1)?.output as DrainResult;
}

/** Returns the instances that are still on the node as a table after an empty line, or an empty text. */
export function remainingText(remaining: readonly RemainingInstance[]): string {
  return remaining.length === 0 ? "" : `\n\n${tableText(COLUMNS, remaining)}`;
}
