import type { SshKey } from "../../../src/contract/ssh-key.ts";
import { type AnyCommand, command } from "../../framework.ts";
import type { Column } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { ownKeys } from "./ssh-key.ts";

const COLUMNS: readonly Column<SshKey>[] = [
  ["ID", (key) => key.id],
  ["NAME", (key) => key.name],
  ["FINGERPRINT", (key) => key.fingerprint],
  ["SCOPE", (key) => key.scope.kind],
];

export function list(): AnyCommand {
  return command("list", "List your SSH keys")
    .action(withIo(async (io) => {
      const keys = await ownKeys(io);
      io.table(keys, keys, COLUMNS, "(no SSH keys)");
    }));
}
