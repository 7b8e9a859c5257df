// Defines the columns of API keys in opsctl and tenantctl.
import type { ApiKeyView } from "../../src/contract/api-key.ts";
import { AGE_COLUMN, type Column, ID_COLUMN, WIDE_COLUMN } from "./table.ts";

export const API_KEY_COLUMNS: readonly Column<ApiKeyView>[] = [
  ["ID", (key) => key.id, ID_COLUMN],
  ["SCOPE", (key) => key.scope],
  ["DESCRIPTION", (key) => key.description],
  ["AGE", (key) => key.created_at, AGE_COLUMN],
  ["CREATED_AT", (key) => key.created_at, WIDE_COLUMN],
  ["EXPIRES_AT", (key) => key.expires_at],
  ["LAST_USED", (key) => key.last_used_at, AGE_COLUMN],
];
