// Defines the actions on an instance, for tenants and for operators.
import type { Instance } from "../../src/contract/instance.ts";
import type { OperationSummary } from "../../src/contract/operation.ts";
import type { Action, Opening } from "../core/action.ts";
import { send } from "../core/client.ts";
import { tenantctl, updates } from "../core/command.ts";
import { editing } from "../core/editing.ts";
import { isOperator, operatorsAndWriters, writersOnly } from "../core/session.ts";
import { onlyWhile } from "../core/text.ts";
import { addDisk } from "./disks.tsx";
import { labelInstance, protectInstance, resizeInstance } from "./instance-changes.ts";
import { inProject } from "./place.ts";

/** Returns the actions of an instance. An action that the state does not permit has the reason in `refused`. */
export function instanceActions(instance: Instance): (Action | Opening)[] {
  const { id, name } = instance;
  const state = instance.lifecycle.state;
  const during = (states: readonly string[]) => states.includes(state) ? null : onlyWhile("instance", state, states);
  const only = (...states: readonly string[]) => writersOnly() ?? during(states);
  const operatorsToo = (...states: readonly string[]) => operatorsAndWriters() ?? during(states);
  const plain = (
    title: string,
    verb: string,
    key: string | undefined,
    refused: string | null,
    notice?: string,
  ): Action => ({
    title,
    ...(key !== undefined && { key }),
    ...(notice !== undefined && { notice }),
    refused,
    cli: () => tenantctl(`instance ${verb}`, [name]),
    send: async (_, request) => {
      await send<OperationSummary>("POST", `/v1/instances/${id}/${verb}`, { key: request, respondAsync: true });
      return { said: `${title}: ${name}` };
    },
  });
  return [
    plain("Start", "start", "s", only("stopped")),
    plain("Stop", "stop", "t", only("running"), "The guest shuts down."),
    { ...plain("Restart", "restart", "r", only("running")), cli: () => tenantctl("instance reboot", [name]) },
    { title: "Open the console", key: "o", opens: `/instances/${id}/console` },
    plain(
      "Reset",
      "reset",
      undefined,
      operatorsToo("running"),
      "Presses the reset button. The guest does not shut down first.",
    ),
    { title: "Show the metrics", key: "m", opens: `/instances/${id}/metrics` },
    {
      title: "Take a screenshot",
      refused: state === "running" ? null : onlyWhile("instance", state, ["running"]),
      opens: `/instances/${id}/screen`,
    },
    ...(state === "failed"
      ? [plain("Retry", "retry", undefined, only("failed"), "Starts the instance again on its node.")]
      : []),
    editing({
      title: "Rename or describe",
      key: "e",
      button: "Save",
      fields: [
        { name: "name", label: "Name", initial: name },
        { name: "description", label: "Description", isOptional: true, initial: instance.description },
      ],
      refused: writersOnly(),
      cli: (values) =>
        tenantctl(
          "instance update",
          [name],
          updates({ "--name": values["name"], "--description": values["description"] }),
        ),
      send: async (values, key) => {
        await send("PATCH", `/v1/instances/${id}`, { body: values, key });
      },
    }),
    resizeInstance(instance, only("stopped")),
    addDisk(instance),
    { title: "Show the snapshots", key: "p", opens: `/instances/${id}/snapshots` },
    { title: "Rebuild", refused: only("running", "stopped", "failed"), opens: `/instances/${id}/rebuild` },
    ...(isOperator()
      ? [
        { title: "Migrate", key: "i", opens: `/instances/${id}/migrations` },
        { title: "Trace a packet", opens: `/instances/${id}/trace` },
      ]
      : []),
    labelInstance(instance),
    protectInstance(instance),
    {
      title: "Delete",
      isDangerous: true,
      notice:
        "The boot disk is deleted too. First delete the data disks and snapshots. Floating IPs stay in the project.",
      fields: [{ name: "confirm", label: `Type ${name} to delete it`, mustBe: name }],
      refused: operatorsToo("stopped", "failed") ??
        (instance.deletion_protection ? "The instance is protected against deletion" : null),
      cli: () => tenantctl("instance delete", [name]),
      send: async (_, key) => {
        await send("DELETE", `/v1/instances/${id}`, { key, respondAsync: true });
        const place = { tenant: instance.tenant_id, project: instance.project_id };
        return { said: `${name} is being deleted`, to: inProject(place, "instances") };
      },
    },
  ];
}
