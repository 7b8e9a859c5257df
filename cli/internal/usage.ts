// The columns of usage, in tables and CSV.
import type { UsedAmounts } from "../../src/contract/usage.ts";
import { BYTES_COLUMN, type Column } from "./table.ts";

export const AMOUNT_COLUMNS: readonly Column<UsedAmounts>[] = [
  ["VCPU HOURS", (of) => of.vcpu_hours],
  ["MEMORY GIB HOURS", (of) => of.memory_gib_hours],
  ["DISK GIB HOURS", (of) => of.disk_gib_hours],
  ["FLOATING IP HOURS", (of) => of.floating_ip_hours],
  ["NETWORK IN", (of) => of.network_in_bytes, BYTES_COLUMN],
  ["NETWORK OUT", (of) => of.network_out_bytes, BYTES_COLUMN],
];

export const FROM_OPTION = [
  "--from <day>",
  "first day, UTC, such as 2026-09-01; default: the first day of the month of --to",
] as const;
export const TO_OPTION = ["--to <day>", "last day, which counts too; default: today"] as const;
