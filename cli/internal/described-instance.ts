import type { Disk, Instance, Nic } from "../../src/contract/instance.ts";
import { type Described, section } from "./describe.ts";
import type { Io } from "./io.ts";
import { BYTES_COLUMN, type Column, ID_COLUMN } from "./table.ts";

const NIC_COLUMNS: readonly Column<Nic>[] = [
  ["NAME", (nic) => nic.name],
  ["IPV4", (nic) => nic.primary_ipv4],
  ["IPV6", (nic) => nic.primary_ipv6],
  ["FLOATING_IPS", (nic) => nic.floating_ips.join(",")],
  ["MAC", (nic) => nic.mac],
  ["ID", (nic) => nic.id, ID_COLUMN],
];
const DISK_COLUMNS: readonly Column<Disk>[] = [
  ["NAME", (disk) => disk.name],
  ["KIND", (disk) => disk.kind],
  ["SIZE", (disk) => disk.size_bytes, BYTES_COLUMN],
  ["ID", (disk) => disk.id, ID_COLUMN],
];

/** Returns an instance with its NICs and disks. `text` has the fields of the instance. */
export async function describedInstance(io: Io, instance: Instance, text: string): Promise<Described> {
  const query = { instance: instance.id };
  const [nics, disks] = await Promise.all([io.all<Nic>("/v1/nics", query), io.all<Disk>("/v1/disks", query)]);
  return {
    answer: { ...instance, nics, disks },
    text: `${text}\n\n${section(io, "nics", NIC_COLUMNS, nics)}\n\n${section(io, "disks", DISK_COLUMNS, disks)}`,
    subject: { scope: "instance", id: instance.id },
  };
}
