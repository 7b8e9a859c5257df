import type { Instance } from "../../../src/contract/instance.ts";
import { blockText } from "../../internal/table.ts";
import type { TenantIo } from "../open-io.ts";
import type { Kind } from "../record/kind.ts";

/** Document 3: the state is an object, in cells too. */
export const INSTANCE: Kind<Instance> = {
  noun: "instance",
  argv: "instance",
  plural: "instances",
  title: "Instance",
  path: "/v1/instances",
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

/** Document 3, Tenant CLI: the lines of show, and where the rest is. */
export function printInstance(io: TenantIo, instance: Instance): void {
  io.print(instance, `${blockText(INSTANCE.lines(instance))}\n(for the whole record, use -o json)`);
  const trouble = hostTrouble(instance);
  if (trouble !== null && !io.json) io.note(`The state may be out of date: ${trouble}`);
}

/** Why what is known of an instance may not be so any more, or null. */
export function hostTrouble({ host_live, found_on_host }: Instance): string | null {
  if (host_live === false) return "its node has not been seen lately";
  return found_on_host ? null : "its node does not report it";
}
