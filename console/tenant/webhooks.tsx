// Shows the webhooks of a project: the URLs that get the project's events.
import { useSignal } from "@preact/signals";
import type { Webhook, WebhookCreated, WebhookPatch } from "../../src/contract/webhook.ts";
import type { Action, Field, Values } from "../core/action.ts";
import { send } from "../core/client.ts";
import { tenantctl } from "../core/command.ts";
import { writersOnly } from "../core/session.ts";
import { Copyable, Link } from "../parts/basics.tsx";
import { createdColumn } from "../parts/columns.tsx";
import type { Column } from "../parts/list.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { inProject, type Place } from "./place.ts";
import { useKept } from "./projects.tsx";
import { webhooksQuery } from "./queries.ts";

export const eventsText = ({ events }: Pick<Webhook, "events">) => events.length === 0 ? "all" : events.join(", ");
const stateText = ({ enabled }: Webhook) => enabled ? "enabled" : "disabled";

const COLUMNS: readonly Column<Webhook>[] = [
  {
    name: "name",
    title: "Name",
    sorts: true,
    text: ({ name }) => name,
    cell: ({ id, name }) => <Link to={`/webhooks/${id}`} tabIndex={-1}>{name}</Link>,
  },
  { name: "url", title: "URL", text: ({ url }) => url, cell: ({ url }) => url },
  { name: "events", title: "Events", isWideOnly: true, text: eventsText, cell: eventsText },
  { name: "state", title: "State", width: "100px", sorts: true, text: stateText, cell: stateText },
  createdColumn(true),
];

export function Webhooks({ place }: { readonly place: Place }) {
  useKept(place);
  const secret = useSignal<string | null>(null);
  return (
    <ListPage<Webhook>
      title="Webhooks"
      noun="webhook"
      query={webhooksQuery(place)}
      columns={COLUMNS}
      idOf={({ id }) => id}
      open={({ id }) => `/webhooks/${id}`}
      actionsOf={webhookActions}
      actions={[create(place, (made) => (secret.value = made))]}
      empty={<p>The project has no webhooks. A webhook sends the events of the project to your URL.</p>}
      cli={tenantctl("webhook list")}
    >
      {secret.value !== null && (
        <div class="sentence warn">
          <p>The secret of the signatures is shown once. Store it now.</p>
          <Copyable text={secret.value} label="the secret" />
        </div>
      )}
    </ListPage>
  );
}

const EVENTS = {
  name: "events",
  label: "Events",
  type: "lines",
  isOptional: true,
  hint: "One in each line, such as instance_* or disk_create. Empty: all events",
} as const satisfies Field;

/** Returns the events of the form: one in each line. */
function eventsIn(text: string): string[] {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
}

function create(place: Place, show: (secret: string) => void): Action {
  return {
    title: "Create a webhook",
    key: "c",
    button: "Create",
    fields: [
      { name: "name", label: "Name" },
      { name: "url", label: "URL", hint: "http or https. It gets the events with POST" },
      EVENTS,
    ],
    refused: writersOnly(),
    cli: ({ name, url, events = "" }) =>
      tenantctl("webhook create", [], {
        "--event": eventsIn(events),
        "--name": name || "NAME",
        "--url": url || "URL",
      }),
    send: async ({ name, url, events = "" }, key) => {
      const body = { name, url, events: eventsIn(events) };
      const made = await send<WebhookCreated>("POST", "/v1/webhooks", { query: { ...place }, body, key });
      show(made.secret);
      return { said: `Webhook ${made.name} is created` };
    },
  };
}

/**
 * Returns the changed fields of the form. Unchanged events are left out, because the server would refuse events that no
 * longer exist.
 */
function changesIn({ name: to, url, events = "" }: Values, webhook: Webhook) {
  const wanted = eventsIn(events);
  return {
    name: to === webhook.name ? undefined : to,
    url: url === webhook.url ? undefined : url,
    events: wanted.join("\n") === webhook.events.join("\n") ? undefined : wanted,
  } satisfies WebhookPatch;
}

/** The actions of one webhook, in its row and on its page. */
export function webhookActions(webhook: Webhook): Action[] {
  const { id, name, enabled } = webhook;
  const path = `/v1/webhooks/${id}`;
  return [
    {
      title: `Send a test to ${name}`,
      button: "Send",
      refused: writersOnly() ?? (enabled ? null : "The webhook is disabled"),
      cli: () => tenantctl("webhook test", [name]),
      send: async (_, key) => {
        await send("POST", `${path}/test`, { key });
        return { said: "The test is on its way", to: `/webhooks/${id}` };
      },
    },
    {
      title: `Change ${name}`,
      button: "Save",
      fields: [
        { name: "name", label: "Name", initial: name },
        { name: "url", label: "URL", initial: webhook.url },
        { ...EVENTS, initial: webhook.events.join("\n") },
      ],
      refused: writersOnly(),
      cli: (values) => {
        const { name: to, url, events } = changesIn(values, webhook);
        return tenantctl("webhook update", [name], {
          "--event": events ?? [],
          "--name": to,
          "--url": url,
          "--all-events": events?.length === 0,
        });
      },
      send: async (values, key) => {
        await send("PATCH", path, { body: changesIn(values, webhook), key });
      },
    },
    {
      title: enabled ? `Disable ${name}` : `Enable ${name}`,
      button: enabled ? "Disable" : "Enable",
      notice: enabled
        ? "A disabled webhook sends nothing. Events of that time are not sent later."
        : "It sends the events that were waiting when it was disabled, and events from now on.",
      refused: writersOnly(),
      cli: () => tenantctl("webhook update", [name], { [enabled ? "--disable" : "--enable"]: true }),
      send: async (_, key) => {
        await send("PATCH", path, { body: { enabled: !enabled }, key });
      },
    },
    {
      title: `Delete ${name}`,
      button: "Delete",
      isDangerous: true,
      notice: "Deliveries that wait are deleted, too.",
      refused: writersOnly(),
      cli: () => tenantctl("webhook delete", [name]),
      send: async (_, key) => {
        await send("DELETE", path, { key });
        const place = { tenant: webhook.tenant_id, project: webhook.project_id };
        return { said: `Webhook ${name} is deleted`, to: inProject(place, "webhooks") };
      },
    },
  ];
}
