import type { ApiKeyView } from "../../../src/contract/api-key.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import type { Column } from "../../internal/table.ts";
import { keysPath, OF_TENANT_OPTION } from "./keys.ts";

const COLUMNS: readonly Column<ApiKeyView>[] = [
  ["ID", (key) => key.id],
  ["SCOPE", (key) => key.scope],
  ["DESCRIPTION", (key) => key.description],
  ["CREATED_AT", (key) => key.created_at],
  ["EXPIRES_AT", (key) => key.expires_at],
  ["LAST_USED_AT", (key) => key.last_used_at],
];

export function list(): AnyCommand {
  return command("list", "List your API keys, or the API keys of a tenant", "--tenant web")
    .option(...OF_TENANT_OPTION)
    .action(withIo(async (io, { tenant }) => {
      const keys = await io.get<ApiKeyView[]>(await keysPath(io, tenant));
      io.table(keys, keys, COLUMNS, "(no API keys)");
    }));
}
