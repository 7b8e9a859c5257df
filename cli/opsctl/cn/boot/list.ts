import type { BootRecordShown } from "../../../../src/contract/boot.ts";
import { BOOT_RECORD_STATES } from "../../../../src/contract/enums.ts";
import { type AnyCommand, listCommand, oneOf } from "../../../framework.ts";
import { withIo } from "../../../internal/run.ts";
import { type Column, STATE_COLUMN } from "../../../internal/table.ts";
import { bootFileText, RECORDS_PATH } from "./record.ts";

const COLUMNS: readonly Column<BootRecordShown>[] = [
  ["MAC", (record) => record.mac],
  ["STATE", (record) => record.state, STATE_COLUMN],
  ["ADDRESS", (record) => record.address],
  ["HOSTNAME", (record) => record.hostname],
  ["SERVER_UUID", (record) => record.server_uuid],
  ["ASSIGNED_PI", (record) => record.assigned_pi],
  ["RESCUE", (record) => record.rescue ? "on" : "off"],
];

/** The table has this column only if at least one listed machine needs a boot file that the booter does not have. */
const BOOT_FILE_COLUMN: Column<BootRecordShown> = [
  "BOOT_FILE",
  ({ client }) => client?.has_boot_file === false ? bootFileText(client) : null,
];

export function list(): AnyCommand {
  return listCommand("list", "List boot records", "--state discovered")
    .addOption(oneOf("--state <state>", "only records in this state", BOOT_RECORD_STATES))
    .action(withIo(async (io, { state }) => {
      const items = await io.all<BootRecordShown>(RECORDS_PATH, { state });
      const columns = items.some(({ client }) => client?.has_boot_file === false)
        ? [...COLUMNS, BOOT_FILE_COLUMN]
        : COLUMNS;
      io.table({ items }, items, columns, "(no boot records)");
    }));
}
