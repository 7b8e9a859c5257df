// The changes of an instance that keep its machine: its size, its labels, its protection against deletion.
import type { Instance, InstancePatch } from "../../src/contract/instance.ts";
import type { Action } from "../core/action.ts";
import { send } from "../core/client.ts";
import { command, tenantctl } from "../core/command.ts";
import { writersOnly } from "../core/session.ts";
import { exactBytes, parseBytes } from "../core/text.ts";

/** `refused` is the reason why the instance is in the wrong state for a resize. */
export function resizeInstance({ id, name, cpu, memory_bytes }: Instance, refused: string | null): Action {
  return {
    title: "Resize",
    notice: "The next start applies the new size.",
    fields: [
      { name: "cpu", label: "vCPUs", type: "number", initial: String(cpu) },
      { name: "memory_bytes", label: "Memory", type: "bytes", initial: exactBytes(memory_bytes) },
    ],
    refused,
    cli: ({ cpu, memory_bytes = "" }) =>
      tenantctl("instance resize", [name], { "--cpu": cpu, "--memory": memory_bytes.replaceAll(" ", "") }),
    send: async ({ cpu = "", memory_bytes = "" }, key) => {
      const body: InstancePatch = { cpu: Number(cpu), memory_bytes: parseBytes(memory_bytes) };
      await send("PATCH", `/v1/instances/${id}`, { body, key });
      return { said: `${name} has its new size at the next start` };
    },
  };
}

export function labelInstance(instance: Instance): Action {
  const { id, name, labels: old } = instance;
  return {
    title: "Set labels",
    fields: [{
      name: "labels",
      label: "Labels",
      type: "lines",
      isOptional: true,
      initial: Object.entries(old).map(([key, value]) => `${key}=${value}`).join("\n"),
      hint: "One KEY=VALUE in each line",
    }],
    refused: writersOnly(),
    cli: ({ labels = "" }) => {
      const wanted = parseLabels(labels);
      const set = Object.entries(wanted).flatMap(([key, value]) => ["--label", `${key}=${value}`]);
      const removed = Object.keys(old).filter((key) => !(key in wanted)).flatMap((key) => ["--remove-label", key]);
      return command(["tenantctl", "instance", "set", name, ...set, ...removed]);
    },
    send: async ({ labels = "" }, key) => {
      const removed = Object.fromEntries(Object.keys(old).map((each) => [each, null]));
      const body: InstancePatch = { labels: { ...removed, ...parseLabels(labels) } };
      await send("PATCH", `/v1/instances/${id}`, { body, key });
    },
  };
}

export function protectInstance({ id, name, deletion_protection: isProtected }: Instance): Action {
  return {
    title: isProtected ? "Allow deletion" : "Protect against deletion",
    notice: isProtected
      ? "The instance can be deleted again."
      : "Every delete is refused until deletion is allowed again.",
    refused: writersOnly(),
    cli: () => tenantctl("instance set", [name], { "--protection": isProtected ? "off" : "on" }),
    send: async (_, key) => {
      const body: InstancePatch = { deletion_protection: !isProtected };
      await send("PATCH", `/v1/instances/${id}`, { body, key });
    },
  };
}

/** Parses one KEY=VALUE of each line. A line without = is a label with an empty value. */
export function parseLabels(text: string): Record<string, string> {
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  return Object.fromEntries(lines.map((line) => {
    const at = line.indexOf("=");
    return at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at + 1)];
  }));
}
