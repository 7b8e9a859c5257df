import type { User } from "../../../src/contract/identity.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import type { Column } from "../../internal/table.ts";
import { USERS_PATH } from "./user.ts";

const COLUMNS: readonly Column<User>[] = [
  ["ID", (user) => user.id],
  ["USERNAME", (user) => user.username],
  ["ROOT", (user) => user.is_root ? "yes" : "no"],
  ["CAPABILITIES", (user) => user.capabilities.join(",")],
  ["TENANT_ID", (user) => user.tenant_id],
  ["ISSUER", (user) => user.issuer],
  ["CREATED_AT", (user) => user.created_at],
];

export function list(): AnyCommand {
  return command("list", "List users")
    .action(withIo(async (io) => {
      const items = await io.all<User>(USERS_PATH);
      io.table({ items }, items, COLUMNS, "(no users)");
    }));
}
