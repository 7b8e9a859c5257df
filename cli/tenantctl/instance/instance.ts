import type { Instance } from "../../../src/contract/instance.ts";
import {
  AGE_COLUMN,
  blockText,
  BYTES_COLUMN,
  ID_COLUMN,
  STATE_COLUMN,
  WIDE_COLUMN,
  WIDE_ID_COLUMN,
} from "../../internal/table.ts";
import { byteSizeText } from "../../internal/byte-size.ts";
import { labelText } from "../../internal/labels.ts";
import type { TenantIo } from "../open-io.ts";
import type { Kind } from "../record/kind.ts";

type Line = readonly [string, unknown];

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
    ["CREATED_AT", (instance) => instance.created_at, WIDE_COLUMN],
  ],
  lines: (instance) => [
    ["id", instance.id],
    ["name", instance.name],
    ["description", instance.description],
    ["state", stateText(instance)],
    ["cpu", instance.cpu],
    ["memory", byteSizeText(instance.memory_bytes)],
    ["image", instance.image_id],
    ["host", instance.host_cn_uuid],
    ["labels", labelText(instance.labels)],
    ["deletion_protection", instance.deletion_protection],
    ["created_at", instance.created_at],
  ],
};

function stateText({ lifecycle: { state, reason } }: Instance): string {
  return reason === undefined ? state : `${state}: ${reason}`;
}

/** Prints the record, and a note if the state may be stale. */
export function printInstance(io: TenantIo, instance: Instance, more: readonly Line[] = []): void {
  io.print(instance, blockText([...INSTANCE.lines(instance), ...more]));
  const trouble = hostTrouble(instance);
  if (trouble !== null && !io.json) io.note(`The state may be out of date: ${trouble}`);
}

/** Returns why the recorded state may be stale, or null if it is not. */
export function hostTrouble({ host_live, found_on_host }: Instance): string | null {
  if (host_live === false) return "its node sends no heartbeat";
  return found_on_host ? null : "its node does not report it";
}
