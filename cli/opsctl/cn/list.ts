import type { CnView } from "../../../src/contract/cn.ts";
import { CN_FILTER_STATES } from "../../../src/contract/enums.ts";
import { type AnyCommand, command, oneOf } from "../../framework.ts";
import { withIo } from "../../kit/run.ts";
import type { Column } from "../../kit/table.ts";

// Document 2, Operator CLI.
const CN_COLUMNS: readonly Column<CnView>[] = [
  ["SERVER_UUID", (node) => node.server_uuid],
  ["HOSTNAME", (node) => node.hostname],
  ["STATE", (node) => node.state],
  ["ROLE", (node) => node.role],
  ["ADMIN_IP", (node) => node.admin_ip],
  ["REGISTERED_AT", (node) => node.registered_at],
];

export function list(): AnyCommand {
  return command("list", "List compute nodes")
    .addOption(oneOf("--state <state>", "only nodes in this state", CN_FILTER_STATES))
    .action(withIo(async (io, { state }) => {
      const items = await io.all<CnView>("/v1/system/cns", { state });
      io.table({ items }, items, CN_COLUMNS, "(no compute nodes)");
    }));
}
