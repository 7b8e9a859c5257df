import type { Snapshot } from "../../../src/contract/snapshot.ts";
import { BYTES_COLUMN, ID_COLUMN } from "../../internal/table.ts";
import type { Kind } from "../record/kind.ts";

export const SNAPSHOT: Kind<Snapshot> = {
  noun: "snapshot",
  singular: "snapshot",
  plural: "snapshots",
  title: "Snapshot",
  path: "/v1/snapshots",
  has_labels: true,
  sample: "before-upgrade",
  parent: "instance",
  columns: [
    ["NAME", (snapshot) => snapshot.name],
    ["ID", (snapshot) => snapshot.id, ID_COLUMN],
    ["INSTANCE", (snapshot) => snapshot.instance_id, ID_COLUMN],
    ["DISK", (snapshot) => snapshot.disk_id, ID_COLUMN],
    ["SIZE", (snapshot) => snapshot.size_bytes, BYTES_COLUMN],
    ["CONSISTENCY", (snapshot) => snapshot.consistency ?? "-"],
    ["CREATED", (snapshot) => snapshot.created_at],
  ],
  lines: (snapshot) => [
    ["id", snapshot.id],
    ["name", snapshot.name],
    ["description", snapshot.description],
    ["instance", snapshot.instance_id],
    ["disk", snapshot.disk_id],
    ["size_bytes", snapshot.size_bytes],
    ["consistency", snapshot.consistency],
    ["created_at", snapshot.created_at],
  ],
};

export const SNAPSHOT_NAME_HELP = "UUID or unique UUID prefix; with --instance also a name";
export const OF_INSTANCE_HELP = "instance of the snapshot: UUID, unique UUID prefix or name";
