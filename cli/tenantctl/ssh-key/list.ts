import type { SshKey } from "../../../src/contract/ssh-key.ts";
import { type AnyCommand, listCommand } from "../../framework.ts";
import { LABEL_FILTER_OPTION, labelFilter } from "../../internal/labels.ts";
import { type Column, ID_COLUMN } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { ownKeys } from "./ssh-key.ts";

const COLUMNS: readonly Column<SshKey>[] = [
  ["NAME", (key) => key.name],
  ["ID", (key) => key.id, ID_COLUMN],
  ["FINGERPRINT", (key) => key.fingerprint],
  ["SCOPE", (key) => key.scope.kind],
];

export function list(): AnyCommand {
  return listCommand("list", "List your SSH keys")
    .option(...LABEL_FILTER_OPTION)
    .action(withIo(async (io, { label }) => {
      const keys = await ownKeys(io, labelFilter(label));
      io.table(keys, keys, COLUMNS, "(no SSH keys)");
    }));
}
