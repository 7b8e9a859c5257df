import type { ApiKeyView } from "../../../src/contract/api-key.ts";
import { type AnyCommand, listCommand } from "../../framework.ts";
import { API_KEY_COLUMNS } from "../../internal/api-key-columns.ts";
import { withIo } from "../open-io.ts";
import { keysPath } from "./api-key.ts";

export function list(): AnyCommand {
  return listCommand("list", "List the API keys of the tenant").action(withIo(async (io) => {
    const keys = await io.get<ApiKeyView[]>(await keysPath(io));
    io.table(keys, keys, API_KEY_COLUMNS, "(no API keys)");
  }));
}
