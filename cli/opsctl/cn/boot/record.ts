// Contains the parts that the verbs of boot records share: the MAC argument, actions on a record, the text of a record.
import type { BootRecord, BootRecordShown } from "../../../../src/contract/boot.ts";
import { canonicalMac } from "../../../../src/lib/net/mac.ts";
import { usageFailure } from "../../../internal/failure.ts";
import type { Io } from "../../../internal/io.ts";
import { consoleText } from "./boot-arguments.ts";
import { blockText } from "../../../internal/table.ts";

export const RECORDS_PATH = "/v2/cn-boot";
export const MAC_ARGUMENT = ["<mac>", "12 hex digits, with or without separators"] as const;

export function checkMac(text: string): string {
  const mac = canonicalMac(text.trim());
  if (mac === null) throw usageFailure(`${text} is not a MAC address; give 12 hex digits, with or without separators`);
  return mac;
}

export function recordPath(mac: string): string {
  return `${RECORDS_PATH}/${mac}`;
}

/** Sends an action to a boot record and returns the record. */
export async function act(io: Io, text: string, action: string, body?: unknown): Promise<BootRecord> {
  return await io.post<BootRecord>(`${recordPath(checkMac(text))}/${action}`, body);
}

/**
 * Returns the text of a record. The answer to a read contains the last netboot request; the answer to a change does
 * not.
 */
export function recordText(record: BootRecord & Partial<BootRecordShown>): string {
  const { networking, provenance } = record;
  return blockText([
    ["mac", record.mac],
    ["state", record.state],
    ["rescue", record.rescue ? "on" : "off"],
    ["address", record.address],
    ["hostname", record.hostname],
    ["server_uuid", record.server_uuid],
    ["assigned_pi", record.assigned_pi],
    ...(networking === null ? [] : [
      ["prefix_len", networking.prefix_len],
      ["gateway", networking.gateway],
      ...(networking.vlan_id === undefined ? [] : [["vlan_id", networking.vlan_id] as const]),
      ["resolvers", networking.resolvers.join(", ")],
      ["nic_tags", networking.nic_tags.join(", ")],
      ["aggregate", aggregateText(networking.aggregate)],
    ] as const),
    ["kernel_args", (record.boot_arguments ?? record).kernel_args.join(" ")],
    ["console", consoleText((record.boot_arguments ?? record).console)],
    ["first_seen", `${provenance.first_seen_at} by ${provenance.source} ${provenance.first_seen_by}`],
    ...(record.client === undefined ? [] : requestRows(record.client)),
    ["created_at", record.created_at],
    ["updated_at", record.updated_at],
  ]);
}

/** Returns the rows of the last netboot request that the machine's firmware sent. */
function requestRows(client: BootRecordShown["client"]): readonly (readonly [string, string | null])[] {
  if (client === null) return [["last_request", null]];
  return [
    ["last_request", `${client.seen_at} to ${client.seen_by}`],
    ["architecture", client.arch === null ? null : `${client.architecture} (${client.arch})`],
    ["boot_file", bootFileText(client)],
    ["vendor_class", client.vendor_class],
    ["user_class", client.user_class],
    ["guid", client.guid],
    ["relay", client.relay],
  ];
}

export function bootFileText({ has_boot_file, architecture }: NonNullable<BootRecordShown["client"]>): string {
  return has_boot_file ? "yes" : `none for ${architecture}`;
}

export function aggregateText(aggregate: NonNullable<BootRecord["networking"]>["aggregate"]): string {
  return aggregate === undefined ? "" : `${aggregate.name} (${aggregate.mode}): ${aggregate.macs.join(" ")}`;
}
