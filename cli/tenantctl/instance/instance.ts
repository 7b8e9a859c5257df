import type { Instance, InstanceShown } from "../../../src/contract/instance.ts";
import { AGE_COLUMN, blockText, BYTES_COLUMN, ID_COLUMN, STATE_COLUMN, WIDE_ID_COLUMN } from "../../internal/table.ts";
import { labelText } from "../../internal/labels.ts";
import type { TenantIo } from "../open-io.ts";
import type { Kind } from "../record/kind.ts";

export const INSTANCE: Kind<Instance> = {
  noun: "instance",
  singular: "instance",
  plural: "instances",
  title: "Instance",
  path: "/v1/instances",
  sample: "web1",
  parent: "project",
  columns: [
    ["NAME", (instance) => instance.name],
    ["ID", (instance) => instance.id, ID_COLUMN],
    ["STATE", (instance) => instance.lifecycle.state, STATE_COLUMN],
    ["CPU", (instance) => instance.cpu],
    ["MEMORY", (instance) => instance.memory_bytes, BYTES_COLUMN],
    ["AGE", (instance) => instance.created_at, AGE_COLUMN],
    ["IMAGE", (instance) => instance.image_id, WIDE_ID_COLUMN],
  ],
  lines: (instance) => [
    ["id", instance.id],
    ["name", instance.name],
    ["lifecycle", lifecycleText(instance)],
    ["image", instance.image_id],
  ],
};

/** Returns the fields that `set` and `resize` change, after the main fields. */
export function changeableLines(instance: Instance) {
  return [
    ...INSTANCE.lines(instance),
    ["cpu", instance.cpu],
    ["memory_bytes", instance.memory_bytes],
    ["labels", labelText(instance.labels)],
    ["deletion_protection", instance.deletion_protection],
  ] as const;
}

function lifecycleText({ lifecycle: { state, reason } }: Instance): string {
  return reason === undefined ? state : `${state}: ${reason}`;
}

/** Prints the main fields, and a note if the state may be stale. */
export function printInstance(io: TenantIo, instance: Instance | InstanceShown): void {
  const lines = [...INSTANCE.lines(instance), ...guestLines(instance)];
  io.print(instance, `${blockText(lines)}\n(for the whole record, use -o json)`);
  const trouble = hostTrouble(instance);
  if (trouble !== null && !io.json) io.note(`The state may be out of date: ${trouble}`);
}

/** Returns the addresses that the guest itself reports, if the answer has them. */
function guestLines(instance: Instance | InstanceShown): readonly (readonly [string, string])[] {
  const interfaces = "guest_interfaces" in instance ? instance.guest_interfaces ?? [] : [];
  const addresses = interfaces.flatMap((each) => each.addresses);
  return addresses.length === 0 ? [] : [["the guest reports", addresses.join(", ")]];
}

/** Returns why the recorded state may be stale, or null if it is not. */
export function hostTrouble({ host_live, found_on_host }: Instance): string | null {
  if (host_live === false) return "its node sends no heartbeat";
  return found_on_host ? null : "its node does not report it";
}
