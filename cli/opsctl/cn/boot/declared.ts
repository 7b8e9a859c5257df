// Joins the roster of declared machines with the boot records, by MAC. The boot MAC of a machine is its first MAC, or
// the MAC of the first member of its aggregate.
import type { BootRecord, Roster, RosterEntry } from "../../../../src/contract/boot.ts";
import { canonicalJson } from "../../../../src/lib/text/canonical-json.ts";
import { canonicalMac } from "../../../../src/lib/net/mac.ts";
import { type AnyCommand, listCommand } from "../../../framework.ts";
import { withIo } from "../../../internal/run.ts";
import { type Column, STATE_COLUMN } from "../../../internal/table.ts";
import { aggregateText, RECORDS_PATH } from "./record.ts";
import { ROSTER_PATH } from "./roster/roster.ts";

export type Declared = RosterEntry & {
  readonly boot_mac: string;
  readonly record: BootRecord | null;
  /** Whether the machine will boot as declared; null if it has no boot record. */
  readonly converged: boolean | null;
};

const COLUMNS: readonly Column<Declared>[] = [
  ["BOOT_MAC", (row) => row.boot_mac],
  ["HOSTNAME", (row) => row.hostname],
  ["NIC_TAGS", (row) => row.nic_tags.join(",")],
  ["AGGREGATE", (row) => aggregateText(row.aggregate)],
  ["STATE", (row) => row.record?.state ?? "(not seen)", STATE_COLUMN],
  ["ADDRESS", (row) => row.record?.address],
  ["SERVER_UUID", (row) => row.record?.server_uuid],
  ["CONVERGED", (row) => row.converged === null ? "-" : row.converged ? "yes" : "no"],
];

export function declared(): AnyCommand {
  return listCommand("declared", "List the declared machines with the state of their boot records")
    .action(withIo(async (io) => {
      const [roster, records] = await Promise.all([
        io.get<Roster>(ROSTER_PATH),
        // An older server ignores the filter and lists all records.
        io.all<BootRecord>(RECORDS_PATH, { declared: "true" }),
      ]);
      const rows = joined(roster, records);
      io.table({ items: rows }, rows, COLUMNS, "(no declared machines)");
      if (rows.some(({ converged }) => converged === false)) {
        io.note("Records that are not converged are older than the roster; run: opsctl cn boot converge");
      }
    }));
}

export function joined(roster: Roster, records: readonly BootRecord[]): Declared[] {
  const by_mac = new Map(records.map((record) => [record.mac, record]));
  return roster.map((entry) => {
    const first = entry.aggregate?.macs[0] ?? entry.macs[0] ?? "";
    const boot_mac = canonicalMac(first) ?? first;
    const record = by_mac.get(boot_mac) ?? null;
    return { ...entry, boot_mac, record, converged: record === null ? null : agrees(record, entry) };
  });
}

function agrees(record: BootRecord, entry: RosterEntry): boolean {
  const { hostname, nic_tags } = entry;
  const declared = { hostname, nic_tags, aggregate: entry.aggregate ?? null };
  if (record.networking === null) return record.hostname === hostname;
  const live = record.networking;
  const recorded = { hostname: live.hostname, nic_tags: live.nic_tags, aggregate: live.aggregate ?? null };
  return record.hostname === hostname && canonicalJson(recorded) === canonicalJson(declared);
}
