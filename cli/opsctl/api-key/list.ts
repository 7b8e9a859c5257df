import type { ApiKeyView } from "../../../src/contract/api-key.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../kit/run.ts";
import type { Column } from "../../kit/table.ts";

export const API_KEYS_PATH = "/v1/auth/api-keys";

const COLUMNS: readonly Column<ApiKeyView>[] = [
  ["ID", (key) => key.id],
  ["SCOPE", (key) => key.scope],
  ["DESCRIPTION", (key) => key.description],
  ["CREATED_AT", (key) => key.created_at],
  ["EXPIRES_AT", (key) => key.expires_at],
  ["LAST_USED_AT", (key) => key.last_used_at],
];

export function list(): AnyCommand {
  return command("list", "List your API keys")
    .action(withIo(async (io) => {
      const keys = await io.get<ApiKeyView[]>(API_KEYS_PATH);
      io.table(keys, keys, COLUMNS, "(no API keys)");
    }));
}
