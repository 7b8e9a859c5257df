import type { NicTag } from "../../../src/contract/external-network.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import type { Column } from "../../internal/table.ts";
import { TAGS_PATH } from "./tag.ts";

const COLUMNS: readonly Column<NicTag>[] = [
  ["ID", (tag) => tag.id],
  ["NAME", (tag) => tag.name],
  ["MTU", (tag) => tag.mtu],
  ["CREATED_AT", (tag) => tag.created_at],
  ["DESCRIPTION", (tag) => tag.description],
];

export function list(): AnyCommand {
  return command("list", "List NIC tags")
    .action(withIo(async (io) => {
      const items = await io.all<NicTag>(TAGS_PATH);
      io.table({ items }, items, COLUMNS, "(no NIC tags)");
    }));
}
