// Shows the snapshots of the disks of an instance, and the actions on them, for example to restore one or to make an
// image of it.
import type { Disk, Instance } from "../../src/contract/instance.ts";
import type { SnapshotImageBody } from "../../src/contract/image-upload.ts";
import type { OperationSummary } from "../../src/contract/operation.ts";
import type { Snapshot, SnapshotBody } from "../../src/contract/snapshot.ts";
import { SNAPSHOTS_MAX } from "../../src/contract/limits.ts";
import { type Action, useActions } from "../core/action.ts";
import { getAll, send } from "../core/client.ts";
import { tenantctl } from "../core/command.ts";
import { labelAction } from "../core/labels.ts";
import { writersOnly } from "../core/session.ts";
import type { Query } from "../core/store.ts";
import { bytes, exactBytes, parseBytes } from "../core/text.ts";
import { AsCommand } from "../parts/basics.tsx";
import { createdColumn, LABELS_COLUMN } from "../parts/columns.tsx";
import type { Column } from "../parts/list.tsx";
import { WholeList } from "../parts/lists.tsx";
import { useQuery } from "../parts/use-query.ts";
import { InstanceHeading } from "./instance-heading.tsx";
import { disksQuery, instanceQuery } from "./queries.ts";

/** The snapshots are read again after this time in milliseconds, because they change while a node copies a disk. */
const FRESH_MS = 5_000;

function snapshotsQuery(instance: string): Query<Snapshot[]> {
  return {
    key: `snapshots of ${instance}`,
    kinds: ["instance", "saga"],
    fresh_ms: FRESH_MS,
    read: (signal) => getAll<Snapshot>("/v1/snapshots", { instance }, signal),
  };
}

/** The text that explains each value of `consistency`. */
const CONSISTENCIES = {
  at_rest: "the guest was off, or the disk was detached",
  frozen: "file systems frozen",
  crash: "as after a power failure",
} as const;

function consistencyText({ consistency }: Snapshot): string {
  return consistency === null ? "being copied" : CONSISTENCIES[consistency];
}

export function InstanceSnapshots({ id }: { readonly id: string }) {
  const { data: instance, refusal } = useQuery(instanceQuery(id));
  const { data: disks = [] } = useQuery(disksQuery(id));
  const { data: snapshots = [] } = useQuery(snapshotsQuery(id));
  useActions(instance === undefined ? [] : [createAction(instance, disks, snapshots.length)]);
  const nameOf = ({ disk_id }: Snapshot) => disks.find((disk) => disk.id === disk_id)?.name ?? "a deleted disk";
  const columns: readonly Column<Snapshot>[] = [
    { name: "name", title: "Snapshot", sorts: true, text: ({ name }) => name, cell: ({ name }) => name },
    { name: "disk", title: "Disk", sorts: true, text: nameOf, cell: nameOf },
    {
      name: "size",
      title: "Size",
      width: "100px",
      isNumeric: true,
      sorts: true,
      text: ({ size_bytes }) => size_bytes,
      cell: ({ size_bytes }) => bytes(size_bytes),
    },
    { name: "state", title: "Contents", isWideOnly: true, text: consistencyText, cell: consistencyText },
    LABELS_COLUMN,
    createdColumn(),
  ];
  return (
    <>
      <InstanceHeading id={id} instance={instance} refusal={refusal} part="Snapshots" />
      {instance !== undefined && (
        <>
          <p class="dim">
            A snapshot is a copy of a disk on the same node. Restore it into a new disk of the instance. An instance
            with a snapshot cannot migrate.
          </p>
          <WholeList<Snapshot>
            label="Snapshots"
            columns={columns}
            query={snapshotsQuery(id)}
            idOf={(row) => row.id}
            actionsOf={(row) => [
              restoreAction(row, instance),
              imageAction(row, instance),
              labelSnapshot(row, instance),
              deleteAction(row, instance),
            ]}
            empty={<p>The instance has no snapshots.</p>}
          />
          <AsCommand line={tenantctl("snapshot list", [], { "--instance": instance.name })} />
        </>
      )}
    </>
  );
}

function createAction({ name: instance, lifecycle }: Instance, disks: readonly Disk[], count: number): Action {
  return {
    title: "Create a snapshot",
    key: "c",
    button: "Create",
    notice: "A running guest keeps running. With the QEMU guest agent its file systems are frozen for a moment.",
    fields: [
      {
        name: "disk",
        label: "Disk",
        type: "choice",
        choices: disks.map(({ id, name, size_bytes }) => ({ value: id, label: `${name}, ${bytes(size_bytes)}` })),
        initial: disks[0]?.id ?? "",
      },
      { name: "name", label: "Name", hint: "Unique among the disks and snapshots of the instance" },
      { name: "description", label: "Description", isOptional: true },
    ],
    refused: writersOnly() ??
      (["running", "stopped"].includes(lifecycle.state) ? null : "The instance must be running or stopped") ??
      (count >= SNAPSHOTS_MAX ? `An instance has at most ${SNAPSHOTS_MAX} snapshots` : null),
    cli: ({ disk, name, description }) =>
      tenantctl("snapshot create", [disks.find(({ id }) => id === disk)?.name ?? "DISK"], {
        "--instance": instance,
        "--name": name || "NAME",
        "--description": description,
      }),
    send: async ({ disk, name = "", description = "" }, key) => {
      const body: SnapshotBody = { name, description, labels: {} };
      await send("POST", "/v1/snapshots", { query: { disk }, body, key, respondAsync: true });
      return { said: `Snapshot ${name} is being created` };
    },
  };
}

/** Creates a data disk from a snapshot. */
function restoreAction({ id, name: snapshot, size_bytes }: Snapshot, { id: instance, name }: Instance): Action {
  return {
    title: `Restore ${snapshot}`,
    button: "Restore",
    notice: "Creates a new data disk with the contents of the snapshot. The old disk stays as it is.",
    fields: [
      { name: "name", label: "Name of the new disk", initial: `${snapshot}-copy` },
      {
        name: "size_bytes",
        label: "Size",
        type: "bytes",
        initial: exactBytes(size_bytes),
        hint: `At least ${bytes(size_bytes)}`,
      },
    ],
    refused: writersOnly(),
    cli: ({ name: disk = "", size_bytes: size = "" }) =>
      tenantctl("disk create", [], {
        "--name": disk || "NAME",
        "--instance": name,
        "--snapshot": snapshot,
        "--size": size.replaceAll(" ", ""),
      }),
    send: async ({ name: disk, size_bytes: size = "" }, key) => {
      const body = { name: disk, size_bytes: parseBytes(size), snapshot_id: id };
      await send("POST", "/v1/disks", { query: { instance }, body, key, respondAsync: true });
      return { said: `Disk ${disk} is being created`, to: `/instances/${instance}` };
    },
  };
}

/** Makes an image of a snapshot. */
function imageAction({ id, name: snapshot }: Snapshot, { name: instance, lifecycle }: Instance): Action {
  return {
    title: `Make an image of ${snapshot}`,
    button: "Image",
    notice: "The image belongs to the project, and needs neither the snapshot nor the instance afterwards.",
    fields: [
      { name: "name", label: "Name of the image" },
      { name: "description", label: "Description", isOptional: true },
    ],
    refused: writersOnly() ??
      (["running", "stopped"].includes(lifecycle.state) ? null : "The instance must be running or stopped"),
    cli: ({ name, description }) =>
      tenantctl("image create", [name || "NAME"], {
        "--snapshot": snapshot,
        "--instance": instance,
        "--description": description,
      }),
    send: async ({ name = "", description = "" }, key) => {
      const body: SnapshotImageBody = { name, description };
      const path = `/v1/snapshots/${id}/image`;
      const { id: operation } = await send<OperationSummary>("POST", path, { body, key, respondAsync: true });
      return { said: `Image ${name} is being made`, to: `/operations/${operation}` };
    },
  };
}

function labelSnapshot({ id, name, labels }: Snapshot, { name: instance }: Instance): Action {
  const argv = ["tenantctl", "snapshot", "update", name];
  return labelAction({ path: `/v1/snapshots/${id}`, argv, flags: { "--instance": instance }, labels, name });
}

function deleteAction({ id, name }: Snapshot, instance: Instance): Action {
  return {
    title: `Delete ${name}`,
    button: "Delete",
    isDangerous: true,
    notice: "The copy is deleted. Disks that were created from it stay.",
    fields: [{ name: "confirm", label: `Type ${name} to delete it`, mustBe: name }],
    refused: writersOnly(),
    cli: () => tenantctl("snapshot delete", [name], { "--instance": instance.name }),
    send: async (_, key) => {
      await send("DELETE", `/v1/snapshots/${id}`, { key, respondAsync: true });
      return { said: `${name} is being deleted` };
    },
  };
}
