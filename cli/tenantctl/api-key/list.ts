import type { ApiKeyView } from "../../../src/contract/api-key.ts";
import { type AnyCommand, listCommand } from "../../framework.ts";
import { AGE_COLUMN, type Column, ID_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { keysPath } from "./api-key.ts";

const COLUMNS: readonly Column<ApiKeyView>[] = [
  ["ID", (key) => key.id, ID_COLUMN],
  ["SCOPE", (key) => key.scope],
  ["DESCRIPTION", (key) => key.description],
  ["AGE", (key) => key.created_at, AGE_COLUMN],
  ["CREATED_AT", (key) => key.created_at, WIDE_COLUMN],
  ["EXPIRES_AT", (key) => key.expires_at],
  ["LAST_USED", (key) => key.last_used_at, AGE_COLUMN],
];

export function list(): AnyCommand {
  return listCommand("list", "List the API keys of the tenant").action(withIo(async (io) => {
    const keys = await io.get<ApiKeyView[]>(await keysPath(io));
    io.table(keys, keys, COLUMNS, "(no API keys)");
  }));
}
