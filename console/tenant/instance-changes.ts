// Defines the actions that change the size, the labels and the deletion protection of an instance.
import type { Instance, InstancePatch } from "../../src/contract/instance.ts";
import type { Action } from "../core/action.ts";
import { send } from "../core/client.ts";
import { tenantctl } from "../core/command.ts";
import { editing } from "../core/editing.ts";
import { labelAction } from "../core/labels.ts";
import { writersOnly } from "../core/session.ts";
import { exactBytes, parseBytes } from "../core/text.ts";

/** `refused` is the reason why the caller cannot resize the instance now, or null. */
export function resizeInstance({ id, name, cpu, memory_bytes }: Instance, refused: string | null): Action {
  return editing({
    title: "Resize",
    notice: "The next start applies the new size.",
    fields: [
      { name: "cpu", label: "vCPUs", type: "number", initial: String(cpu) },
      { name: "memory_bytes", label: "Memory", type: "bytes", initial: exactBytes(memory_bytes) },
    ],
    refused,
    cli: ({ cpu, memory_bytes }) =>
      tenantctl("instance resize", [name], { "--cpu": cpu, "--memory": memory_bytes?.replaceAll(" ", "") }),
    send: async ({ cpu, memory_bytes }, key) => {
      const body: InstancePatch = {
        ...(cpu !== undefined && { cpu: Number(cpu) }),
        ...(memory_bytes !== undefined && { memory_bytes: parseBytes(memory_bytes) }),
      };
      await send("PATCH", `/v1/instances/${id}`, { body, key });
      return { said: `${name} has its new size at the next start` };
    },
  });
}

export function labelInstance({ id, name, labels }: Instance): Action {
  return labelAction({ path: `/v1/instances/${id}`, argv: ["tenantctl", "instance", "update", name], labels });
}

export function protectInstance({ id, name, deletion_protection: isProtected }: Instance): Action {
  return {
    title: isProtected ? "Allow deletion" : "Protect against deletion",
    notice: isProtected
      ? "The instance can be deleted again."
      : "Every delete is refused until deletion is allowed again.",
    refused: writersOnly(),
    cli: () => tenantctl("instance update", [name], { "--protection": isProtected ? "off" : "on" }),
    send: async (_, key) => {
      const body: InstancePatch = { deletion_protection: !isProtected };
      await send("PATCH", `/v1/instances/${id}`, { body, key });
    },
  };
}
