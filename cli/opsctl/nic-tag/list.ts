import type { NicTag } from "../../../src/contract/external-network.ts";
import { type AnyCommand, listCommand } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { AGE_COLUMN, type Column, ID_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";
import { TAGS_PATH } from "./tag.ts";

const COLUMNS: readonly Column<NicTag>[] = [
  ["NAME", (tag) => tag.name],
  ["ID", (tag) => tag.id, ID_COLUMN],
  ["MTU", (tag) => tag.mtu],
  ["AGE", (tag) => tag.created_at, AGE_COLUMN],
  ["CREATED_AT", (tag) => tag.created_at, WIDE_COLUMN],
  ["DESCRIPTION", (tag) => tag.description],
];

export function list(): AnyCommand {
  return listCommand("list", "List NIC tags")
    .action(withIo(async (io) => {
      const items = await io.all<NicTag>(TAGS_PATH);
      io.table({ items }, items, COLUMNS, "(no NIC tags)");
    }));
}
