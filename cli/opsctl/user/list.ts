import type { User } from "../../../src/contract/identity.ts";
import { type AnyCommand, listCommand } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { AGE_COLUMN, type Column, ID_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";
import { USERS_PATH } from "./user.ts";

const COLUMNS: readonly Column<User>[] = [
  ["USERNAME", (user) => user.username],
  ["ID", (user) => user.id, ID_COLUMN],
  ["ROOT", (user) => user.is_root ? "yes" : "no"],
  ["CAPABILITIES", (user) => user.capabilities.join(",")],
  ["TENANT_ID", (user) => user.tenant_id, ID_COLUMN],
  ["ISSUER", (user) => user.issuer],
  ["AGE", (user) => user.created_at, AGE_COLUMN],
  ["CREATED_AT", (user) => user.created_at, WIDE_COLUMN],
];

export function list(): AnyCommand {
  return listCommand("list", "List users")
    .action(withIo(async (io) => {
      const items = await io.all<User>(USERS_PATH);
      io.table({ items }, items, COLUMNS, "(no users)");
    }));
}
