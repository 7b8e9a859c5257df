import type { Instance } from "../../../src/contract/instance.ts";
import { blockText } from "../../internal/table.ts";
import type { TenantIo } from "../open-io.ts";
import type { Kind } from "../record/kind.ts";

/** The state is printed as an object, also in table cells. */
export const INSTANCE: Kind<Instance> = {
  noun: "instance",
  singular: "instance",
  plural: "instances",
  title: "Instance",
  path: "/v1/instances",
  sample: "web1",
  parent: "project",
  columns: [
    ["ID", (instance) => instance.id],
    ["NAME", (instance) => instance.name],
    ["STATE", (instance) => instance.lifecycle],
    ["IMAGE", (instance) => instance.image_id],
  ],
  lines: (instance) => [
    ["id", instance.id],
    ["name", instance.name],
    ["lifecycle", instance.lifecycle],
    ["image", instance.image_id],
  ],
};

/** Prints the main fields, and a note if the state may be stale. */
export function printInstance(io: TenantIo, instance: Instance): void {
  io.print(instance, `${blockText(INSTANCE.lines(instance))}\n(for the whole record, use -o json)`);
  const trouble = hostTrouble(instance);
  if (trouble !== null && !io.json) io.note(`The state may be out of date: ${trouble}`);
}

/** Returns why the recorded state may be stale, or null if it is not. */
export function hostTrouble({ host_live, found_on_host }: Instance): string | null {
  if (host_live === false) return "its node sends no heartbeat";
  return found_on_host ? null : "its node does not report it";
}
