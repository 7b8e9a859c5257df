import type { Disk } from "../../../src/contract/instance.ts";
import type { Kind } from "../record/kind.ts";

export const DISK: Kind<Disk> = {
  noun: "disk",
  singular: "disk",
  plural: "disks",
  title: "Disk",
  path: "/v1/disks",
  sample: "root",
  parent: "instance",
  columns: [
    ["ID", (disk) => disk.id],
    ["NAME", (disk) => disk.name],
    ["INSTANCE", (disk) => disk.instance],
    ["KIND", (disk) => disk.kind],
    ["SIZE", (disk) => disk.size_bytes],
  ],
  lines: (disk) => [
    ["id", disk.id],
    ["name", disk.name],
    ["instance", disk.instance],
    ["kind", disk.kind],
    ["size_bytes", disk.size_bytes],
  ],
};
