import type { Migration, MigrationStarted } from "../../../src/contract/migration.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { parseByteSize } from "../../internal/byte-size.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure } from "../../internal/failure.ts";
import { endText, follow } from "../../internal/operation/follow.ts";
import { plainText } from "../../internal/plain-text.ts";
import { titleOf } from "../../internal/record-name.ts";
import { withIo } from "../../internal/run.ts";
import { AGE_COLUMN, type Column, ID_COLUMN, STATE_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";
import { findNode, resolveNode } from "../node-name.ts";
import { findInstance, INSTANCE_ARGUMENT, instancePath } from "./instance.ts";

export function migrate(): AnyCommand {
  return command("migrate", "Move a running or stopped instance of any tenant to another node", "web1 --target node-7")
    .argument(...INSTANCE_ARGUMENT)
    .option("--target <node>", "node to move to: UUID, unique UUID prefix or hostname; by default the best node")
    .option(
      "--bandwidth <size>",
      "maximum number of bytes that the node sends per second, such as 64MiB",
      (text) => parseByteSize(text, "--bandwidth"),
    )
    .option("--no-wait", "do not wait: print the operation")
    .action(withIo(async (io, name, { target, bandwidth, wait }) => {
      const instance = await findInstance(io, name);
      const body = {
        ...target !== undefined && { target_server_uuid: await resolveNode(io, target) },
        ...bandwidth !== undefined && { bandwidth_bytes_per_s: bandwidth },
      };
      const path = `${await instancePath(io, instance.id)}/migrate`;
      const started = await io.send<MigrationStarted>({ method: "POST", path, body });
      const { operation_id } = started;
      if (!wait) {
        return io.print(
          started,
          `Operation ${operation_id} moves ${titleOf(instance)}; to wait for it, run: opsctl ` +
            `operation wait ${operation_id}`,
        );
      }
      const ended = await follow(io, { id: operation_id, limit_ms: Infinity });
      if (ended.state !== "succeeded") throw new Failure(endText(ended), EXIT.failure);
      const [last] = await io.get<Migration[]>(`/v1/instances/${instance.id}/migrations`);
      const node = last === undefined ? null : await findNode(io, last.target_server_uuid).catch(() => null);
      io.print(
        last,
        `Instance ${titleOf(instance)} moved to ${plainText(node?.hostname ?? String(last?.target_server_uuid))}`,
      );
    }));
}

const COLUMNS: readonly Column<Migration>[] = [
  ["ID", (migration) => migration.id, ID_COLUMN],
  ["STATE", (migration) => migration.state, STATE_COLUMN],
  ["SOURCE", (migration) => migration.source_server_uuid, ID_COLUMN],
  ["TARGET", (migration) => migration.target_server_uuid, ID_COLUMN],
  ["LIVE", (migration) => migration.live ? "yes" : "no"],
  ["DONE", progressOf],
  ["PAUSED", (migration) => migration.downtime_ms === null ? "" : `${migration.downtime_ms} ms`],
  ["AGE", (migration) => migration.created_at, AGE_COLUMN],
  ["REASON", (migration) => migration.reason, WIDE_COLUMN],
  ["CREATED_AT", (migration) => migration.created_at, WIDE_COLUMN],
];

function progressOf({ state, progress }: Migration): string {
  if (state !== "running" || progress === null) return "";
  return progress.percent === null ? progress.step : `${progress.step} ${progress.percent} %`;
}

export function migrations(): AnyCommand {
  return command("migrations", "List the migrations of an instance, newest first", "web1")
    .argument(...INSTANCE_ARGUMENT)
    .action(withIo(async (io, name) => {
      const items = await io.get<Migration[]>(`${await instancePath(io, name)}/migrations`);
      io.table({ items }, items, COLUMNS, "(no migrations)");
    }));
}
