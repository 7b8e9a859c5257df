// Defines the verbs that start, stop and delete an instance of any tenant. By default, these verbs wait for the
// operation.
import type { Instance } from "../../../src/contract/instance.ts";
import type { OperationSummary } from "../../../src/contract/operation.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { confirm } from "../../internal/confirmation.ts";
import { deleteCommand } from "../../internal/delete-command.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure } from "../../internal/failure.ts";
import type { Io } from "../../internal/io.ts";
import { endText, follow } from "../../internal/operation/follow.ts";
import { titleOf } from "../../internal/record-name.ts";
import { withIo } from "../../internal/run.ts";
import { findInstance, INSTANCE_ARGUMENT, INSTANCES_PATH } from "./instance.ts";

const ACCEPTED = 202;
const NO_WAIT_OPTION = ["--no-wait", "do not wait: print the operation"] as const;

export function start(): AnyCommand {
  return changing("start", "Start a stopped instance of any tenant");
}

export function stop(): AnyCommand {
  return changing("stop", "Stop a running instance of any tenant");
}

function changing(verb: "start" | "stop", summary: string): AnyCommand {
  return command(verb, summary, "web1")
    .argument(...INSTANCE_ARGUMENT)
    .option(...NO_WAIT_OPTION)
    .action(withIo(async (io, name, { wait }) => {
      const instance = await findInstance(io, name);
      const started = await begin(io, { method: "POST", path: `${INSTANCES_PATH}/${instance.id}/${verb}` });
      if (!wait && started !== null) return printStarted(io, started);
      if (started !== null) await settle(io, started);
      const after = await io.get<Instance>(`${INSTANCES_PATH}/${instance.id}`);
      io.print(after, `Instance ${titleOf(after)} is ${after.lifecycle.state}`);
    }));
}

export function remove(): AnyCommand {
  return deleteCommand(
    "delete",
    "Delete a stopped or failed instance of any tenant with its boot disk and addresses; delete its data disks and snapshots first",
    "web1",
    { asks: true },
  )
    .argument(...INSTANCE_ARGUMENT)
    .option("--force", "delete the instance in any state, without waiting for its node")
    .option(...NO_WAIT_OPTION)
    .action(withIo(async (io, name, { force, yes, wait }) => {
      const instance = await findInstance(io, name);
      await confirm(io, yes === true, () =>
        Promise.resolve({
          warning: `Delete instance ${
            titleOf(instance)
          } of tenant ${instance.tenant_id} with its boot disk and addresses.`,
          names: [instance.name, instance.id],
        }));
      const path = `${INSTANCES_PATH}/${instance.id}`;
      const started = await begin(io, { method: "DELETE", path, query: { force: String(force === true) } });
      if (!wait && started !== null) return printStarted(io, started);
      if (started !== null) await settle(io, started);
      io.print(null, `Deleted instance ${titleOf(instance)}`);
    }));
}

type Begin = { readonly method: "POST" | "DELETE"; readonly path: string; readonly query?: { readonly force: string } };

/** Returns the started operation, or null if the server finished at once. */
export async function begin(io: Io, request: Begin): Promise<OperationSummary | null> {
  const answer = await io.exchange({ ...request, headers: { prefer: "respond-async" } });
  return answer.status === ACCEPTED ? answer.body as OperationSummary : null;
}

function printStarted(io: Io, { id, kind, state }: OperationSummary): void {
  io.print(
    { id, kind, state },
    `Operation ${id} (${kind}) is ${state}; to wait for it, run: opsctl operation wait ${id}`,
  );
}

/**
 * Waits for the operation. The wait has no limit, because the server limits the operation. Throws a Failure if the
 * operation fails.
 */
export async function settle(io: Io, { id }: OperationSummary): Promise<void> {
  const ended = await follow(io, { id, limit_ms: Infinity });
  if (ended.state === "succeeded") return;
  throw new Failure(endText(ended), EXIT.failure);
}
