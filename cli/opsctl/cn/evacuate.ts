import type { EvacuateStarted } from "../../../src/contract/drain.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { confirm } from "../../internal/confirmation.ts";
import { YES_FLAGS } from "../../internal/delete-command.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure, usageFailure } from "../../internal/failure.ts";
import { endText, follow } from "../../internal/operation/follow.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { askAbout, NODE_ARGUMENT, resolveNode } from "../node-name.ts";
import { planText } from "./drain-preview.ts";
import { drainResult, instancesText, remainingText } from "./remaining-text.ts";

export function evacuate(): AnyCommand {
  return command("evacuate", "Create the instances of a dead node on other nodes", "cn-17 --dry-run --lose-local-disks")
    .argument(...NODE_ARGUMENT)
    .option("--fenced", "confirm that the node is powered off, so that it runs no instance")
    .option("--lose-local-disks", "create instances from their images; the data of their disks on the node is lost")
    .option("--dry-run", "show which instances would be created on which nodes; change nothing")
    .option(YES_FLAGS, "do not ask for confirmation of --lose-local-disks")
    .option("--no-wait", "do not wait: print the operation")
    .action(withIo(async (io, name, { fenced, loseLocalDisks, dryRun, yes, wait }) => {
      if (fenced !== true && dryRun !== true) {
        throw usageFailure("power the node off, for example by its BMC; then pass --fenced. --dry-run shows the plan");
      }
      const server_uuid = await resolveNode(io, name);
      const path = `/v1/cns/${server_uuid}/evacuate`;
      const lose_local_disks = loseLocalDisks === true;
      const send = (dry_run: boolean) =>
        io.send<EvacuateStarted>({
          method: "POST",
          path,
          body: { fenced: fenced === true, lose_local_disks, dry_run },
        });
      if (dryRun === true) {
        const plan = await send(true);
        return io.print(plan, evacuationText(plan));
      }
      if (lose_local_disks && yes !== true) {
        const plan = await send(true);
        await confirm(
          io,
          false,
          () =>
            askAbout(io, server_uuid, (title) => `The data of the disks on ${title} is lost:\n${evacuationText(plan)}`),
        );
      }
      const started = await send(false);
      const { operation_id } = started;
      if (operation_id === null) throw new Failure("the answer of the server names no operation", EXIT.failure);
      if (!wait) {
        const note = `Operation ${operation_id} evacuates ${plainText(name)}; to wait for it, run: ` +
          `opsctl operation wait ${operation_id}`;
        return io.print(started, `${note}\n${evacuationText(started)}`);
      }
      const ended = await follow(io, { id: operation_id, limit_ms: Infinity });
      const result = drainResult(ended);
      if (result === null) throw new Failure(endText(ended), EXIT.failure);
      const { moved, remaining } = result;
      const text = `Created ${instancesText(moved)} of ${plainText(name)} on other nodes; the node is cordoned`;
      io.print(result, `${text}${withOption(remainingText(remaining))}`);
      if (remaining.length > 0) {
        throw new Failure(`still on ${plainText(name)}: ${instancesText(remaining.length)}`, EXIT.failure);
      }
    }));
}

function evacuationText(plan: EvacuateStarted): string {
  const { instances_on_cn, placeable } = plan;
  const count = `${placeable.length} of ${instances_on_cn} instances`;
  return withOption(planText(plan, `${count} can be created again on other nodes from their images`));
}

/** The server's remedies name the field of the request; an operator types the option. */
function withOption(text: string): string {
  return text.replaceAll("with lose_local_disks", "with --lose-local-disks");
}
