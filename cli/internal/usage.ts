// Defines the columns of usage, in tables and CSV.
import type { UsedAmounts } from "../../src/contract/usage.ts";
import { usageFailure } from "./failure.ts";
import { BYTES_COLUMN, type Column } from "./table.ts";
import { isDay } from "./time-text.ts";

export const AMOUNT_COLUMNS: readonly Column<UsedAmounts>[] = [
  ["VCPU_HOURS", (of) => of.vcpu_hours],
  ["MEMORY_GIB_HOURS", (of) => of.memory_gib_hours],
  ["DISK_GIB_HOURS", (of) => of.disk_gib_hours],
  ["FLOATING_IP_HOURS", (of) => of.floating_ip_hours],
  ["NETWORK_IN", (of) => of.network_in_bytes, BYTES_COLUMN],
  ["NETWORK_OUT", (of) => of.network_out_bytes, BYTES_COLUMN],
];

export const FROM_OPTION = [
  "--from <day>",
  "first day, UTC, such as 2026-09-01; default: the first day of the month of --to",
  dayOf("--from"),
] as const;
export const TO_OPTION = ["--to <day>", "last day, included; default: today", dayOf("--to")] as const;

/** Returns a parser that throws a usage Failure unless the text is a day. */
function dayOf(flag: string): (text: string) => string {
  return (text) => {
    if (!isDay(text)) throw usageFailure(`${flag} ${text} is not a day; write 2026-09-01`);
    return text;
  };
}
