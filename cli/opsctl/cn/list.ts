import type { CnView } from "../../../src/contract/cn.ts";
import { CN_STATES } from "../../../src/contract/enums.ts";
import { CN_SYSINFO_PAGE_ROWS_MAX } from "../../../src/contract/limits.ts";
import { type AnyCommand, command, oneOf } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import type { Column } from "../../internal/table.ts";
import { claimsMark } from "./claim.ts";

const CN_COLUMNS: readonly Column<CnView>[] = [
  ["SERVER_UUID", (node) => node.server_uuid],
  ["HOSTNAME", (node) => node.hostname],
  ["STATE", (node) => node.state],
  ["ROLE", (node) => node.role],
  ["ADMIN_IP", (node) => node.admin_ip],
  ["REGISTERED_AT", (node) => node.registered_at],
];
const CLAIMS_COLUMN: Column<CnView> = ["CLAIMS", claimsMark];

/**
 * Returns whether an operator must compare claims: the node has several claims, a claim differs from the node's record,
 * or the node has a claim and is not pending.
 */
function needsLook({ state, claims, identity_conflict }: CnView): boolean {
  return claims.length > 1 || identity_conflict || (claims.length === 1 && state !== "pending");
}

export function list(): AnyCommand {
  return command("list", "List compute nodes", "--state approved")
    .addOption(oneOf("--state <state>", "only nodes in this state", CN_STATES))
    .action(withIo(async (io, { state }) => {
      // With --json records are complete. They may be large, so the pages are smaller.
      const whole = io.json ? { include: "sysinfo", limit: CN_SYSINFO_PAGE_ROWS_MAX } : {};
      const items = await io.all<CnView>("/v1/system/cns", { state, ...whole });
      const columns = items.some(needsLook) ? [...CN_COLUMNS, CLAIMS_COLUMN] : CN_COLUMNS;
      io.table({ items }, items, columns, "(no compute nodes)");
    }));
}
