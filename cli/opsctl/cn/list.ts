import type { CnView } from "../../../src/contract/cn.ts";
import { CN_STATES } from "../../../src/contract/enums.ts";
import { CN_SYSINFO_PAGE_ROWS_MAX } from "../../../src/contract/limits.ts";
import { type AnyCommand, listCommand, oneOf } from "../../framework.ts";
import type { Io } from "../../internal/io.ts";
import { LABEL_FILTER_OPTION, labelFilter, labelText } from "../../internal/labels.ts";
import { withIo } from "../../internal/run.ts";
import { AGE_COLUMN, type Column, ID_COLUMN, STATE_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";
import { NODES_PATH } from "../node-name.ts";
import { claimsMark } from "./claim.ts";
import { READY_NODES_MAX, readyTexts } from "./ready.ts";

export function list(): AnyCommand {
  return listCommand("list", "List compute nodes", "--state approved")
    .addOption(oneOf("--state <state>", "only nodes in this state", CN_STATES))
    .option(...LABEL_FILTER_OPTION)
    .action(withIo(async (io, { state, label }) => {
      // As data, records are complete. They may be large, so the pages are smaller.
      const whole = io.json ? { include: "sysinfo", limit: CN_SYSINFO_PAGE_ROWS_MAX } : {};
      const items = await io.all<CnView>(NODES_PATH, { state, label: labelFilter(label), ...whole });
      io.table({ items }, items, await columnsFor(io, items), "(no compute nodes)");
    }));
}

async function columnsFor(io: Io, nodes: readonly CnView[]): Promise<readonly Column<CnView>[]> {
  const ready = io.is_data || nodes.length > READY_NODES_MAX ? null : await readyTexts(io, nodes);
  if (nodes.length > READY_NODES_MAX && !io.is_data) {
    io.note(`READY is shown for at most ${READY_NODES_MAX} nodes; narrow the list, or run: opsctl cn doctor NODE`);
  }
  const ready_column: Column<CnView> = ["READY", ({ server_uuid }) => ready?.get(server_uuid), STATE_COLUMN];
  const claims_column: Column<CnView> = ["CLAIMS", claimsMark];
  return [
    ["NAME", (node) => node.hostname],
    ["ID", (node) => node.server_uuid, ID_COLUMN],
    ["STATE", (node) => node.state, STATE_COLUMN],
    ["LAST_SEEN", (node) => node.last_seen, AGE_COLUMN],
    ["AGE", (node) => node.registered_at, AGE_COLUMN],
    ["ROLE", (node) => node.role],
    ["ADMIN_IP", (node) => node.admin_ip],
    ...(nodes.some(needsLook) ? [claims_column] : []),
    // Last, because the reason is long and the first to be truncated.
    ...(ready === null ? [] : [ready_column]),
    ["LABELS", (node) => labelText(node.labels), WIDE_COLUMN],
    ["REGISTERED_AT", (node) => node.registered_at, WIDE_COLUMN],
  ];
}

/**
 * Returns whether an operator must compare claims: the node has several claims, a claim differs from the node's record,
 * or the node has a claim and is not pending.
 */
function needsLook({ state, claims, identity_conflict }: CnView): boolean {
  return claims.length > 1 || identity_conflict || (claims.length === 1 && state !== "pending");
}
