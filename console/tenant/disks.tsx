// Shows the disks of an instance, and their actions.
import type { Disk, Instance } from "../../src/contract/instance.ts";
import type { Action } from "../core/action.ts";
import { send } from "../core/client.ts";
import { tenantctl } from "../core/command.ts";
import { labelAction } from "../core/labels.ts";
import { writersOnly } from "../core/session.ts";
import { bytes, exactBytes, parseBytes } from "../core/text.ts";
import { Section } from "../parts/basics.tsx";
import { LabelsText } from "../parts/labels-text.tsx";
import { RowActions } from "../parts/row-actions.tsx";
import { useQuery } from "../parts/use-query.ts";
import { disksQuery } from "./queries.ts";

export function Disks({ instance }: { readonly instance: Instance }) {
  const { data: disks, refusal } = useQuery(disksQuery(instance.id));
  return (
    <Section title="Disks" count={disks?.length} refusal={refusal}>
      <ul class="plain">
        {(disks ?? []).map((disk) => (
          <li key={disk.id}>
            <span>{disk.name}</span>
            <span class="dim">{disk.kind}</span>
            <span>{bytes(disk.size_bytes)}</span>
            <LabelsText labels={disk.labels} />
            {!disk.attached && <span class="warn">detached</span>}
            {disk.applied_bytes !== null && disk.applied_bytes < disk.size_bytes && (
              <span class="warn">the node has {bytes(disk.applied_bytes)}</span>
            )}
            <RowActions actions={diskActions(disk, instance.name)} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Returns the actions of a disk, for its buttons and for the palette. */
export function diskActions(disk: Disk, instance: string): readonly Action[] {
  if (disk.kind !== "data") return [enlarge(disk, instance), label(disk, instance)];
  return disk.attached
    ? [enlarge(disk, instance), label(disk, instance), detach(disk, instance)]
    : [attach(disk, instance), label(disk, instance), remove(disk, instance)];
}

function label({ id, name, labels }: Disk, instance: string): Action {
  const argv = ["tenantctl", "disk", "update", name];
  return labelAction({ path: `/v1/disks/${id}`, argv, flags: { "--instance": instance }, labels, name });
}

/** Creates a data disk of an instance. */
export function addDisk({ id, name: instance }: Instance): Action {
  return {
    title: "Add a data disk",
    button: "Add",
    notice: "The disk is empty. A running guest gets it at once.",
    fields: [
      { name: "name", label: "Name", hint: "Unique among the disks of the instance" },
      { name: "size", label: "Size", type: "bytes", hint: "Such as 100 GiB" },
    ],
    refused: writersOnly(),
    cli: ({ name = "", size = "" }) =>
      tenantctl("disk create", [], { "--name": name, "--instance": instance, "--size": size.replaceAll(" ", "") }),
    send: async ({ name, size = "" }, key) => {
      const body = { name, size_bytes: parseBytes(size) };
      await send("POST", "/v1/disks", { query: { instance: id }, body, key, respondAsync: true });
      return { said: `Disk ${name} is being added` };
    },
  };
}

function attach(disk: Disk, instance: string): Action {
  return {
    title: `Attach ${disk.name}`,
    button: "Attach",
    notice: "A running guest gets the disk at once.",
    refused: writersOnly(),
    cli: () => tenantctl("disk attach", [disk.name], { "--instance": instance }),
    send: async (_, key) => {
      await send("POST", `/v1/disks/${disk.id}/attach`, { key, respondAsync: true });
      return { said: `${disk.name} is being attached` };
    },
  };
}

function detach(disk: Disk, instance: string): Action {
  return {
    title: `Detach ${disk.name}`,
    button: "Detach",
    notice: "Unmount the disk in the guest first. Its data stays.",
    refused: writersOnly(),
    cli: () => tenantctl("disk detach", [disk.name], { "--instance": instance }),
    send: async (_, key) => {
      await send("POST", `/v1/disks/${disk.id}/detach`, { key, respondAsync: true });
      return { said: `${disk.name} is being detached` };
    },
  };
}

function remove(disk: Disk, instance: string): Action {
  return {
    title: `Delete ${disk.name}`,
    button: "Delete",
    isDangerous: true,
    notice: "The data on the disk is lost.",
    fields: [{ name: "confirm", label: `Type ${disk.name} to delete it`, mustBe: disk.name }],
    refused: writersOnly(),
    cli: () => tenantctl("disk delete", [disk.name], { "--instance": instance }),
    send: async (_, key) => {
      await send("DELETE", `/v1/disks/${disk.id}`, { key, respondAsync: true });
      return { said: `${disk.name} is being deleted` };
    },
  };
}

function enlarge(disk: Disk, instance: string): Action {
  return {
    title: `Enlarge ${disk.name}`,
    button: "Enlarge",
    notice: "A disk cannot shrink. The guest may have to restart to see the new size.",
    fields: [{ name: "size", label: "New size", type: "bytes", initial: exactBytes(disk.size_bytes) }],
    refused: writersOnly(),
    cli: ({ size = "" }) =>
      tenantctl("disk resize", [disk.name], { "--instance": instance, "--size-bytes": size.replaceAll(" ", "") }),
    send: async ({ size = "" }, key) => {
      await send("POST", `/v1/disks/${disk.id}/resize`, { body: { size_bytes: parseBytes(size) }, key });
    },
  };
}
