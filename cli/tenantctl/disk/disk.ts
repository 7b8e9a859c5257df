import type { Disk } from "../../../src/contract/instance.ts";
import type { Kind } from "../record/kind.ts";
import { BYTES_COLUMN, ID_COLUMN } from "../../internal/table.ts";

export const DISK_NAME_HELP = "UUID or unique UUID prefix; with --instance also a name";
export const OF_INSTANCE_HELP = "instance of the disk: UUID, unique UUID prefix or name";

export const DISK: Kind<Disk> = {
  noun: "disk",
  singular: "disk",
  plural: "disks",
  title: "Disk",
  path: "/v1/disks",
  has_labels: true,
  sample: "root",
  parent: "instance",
  columns: [
    ["NAME", (disk) => disk.name],
    ["ID", (disk) => disk.id, ID_COLUMN],
    ["INSTANCE", (disk) => disk.instance, ID_COLUMN],
    ["KIND", (disk) => disk.kind],
    ["SIZE", (disk) => disk.size_bytes, BYTES_COLUMN],
    ["ATTACHED", (disk) => disk.attached ? "yes" : "no"],
  ],
  lines: (disk) => [
    ["id", disk.id],
    ["name", disk.name],
    ["instance", disk.instance],
    ["kind", disk.kind],
    ["size_bytes", disk.size_bytes],
    ["attached", disk.attached],
  ],
};
