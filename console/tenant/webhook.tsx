// Shows one webhook with its deliveries: events that were sent or wait to be sent.
import type { Webhook, WebhookDelivery } from "../../src/contract/webhook.ts";
import { WEBHOOK_DELIVERY_STATES } from "../../src/contract/enums.ts";
import { type Action, useActions } from "../core/action.ts";
import { get, send } from "../core/client.ts";
import { tenantctl } from "../core/command.ts";
import { labelAction, labelTexts } from "../core/labels.ts";
import { query as urlQuery } from "../core/router.ts";
import { writersOnly } from "../core/session.ts";
import type { Query } from "../core/store.ts";
import { Actions } from "../parts/actions.tsx";
import { AsCommand, Copyable, Facts, Heading, Link, Problem, State, When } from "../parts/basics.tsx";
import type { Column } from "../parts/list.tsx";
import { Filters } from "../parts/list-page.tsx";
import { WholeList } from "../parts/lists.tsx";
import { useQuery } from "../parts/use-query.ts";
import { inProject } from "./place.ts";
import { eventsText, webhookActions } from "./webhooks.tsx";

/**
 * The change feed does not report attempts, so the page reads the deliveries again after this time, in milliseconds.
 */
const FRESH_MS = 5_000;
/** The number of newest deliveries that the page shows. */
const DELIVERIES = 200;

function webhookQuery(id: string): Query<Webhook> {
  return {
    key: `webhook ${id}`,
    kinds: ["webhook"],
    read: (signal) => get<Webhook>(`/v1/webhooks/${id}`, undefined, signal),
  };
}

function deliveriesQuery(id: string): Query<WebhookDelivery[]> {
  return {
    key: `deliveries of ${id}`,
    kinds: ["webhook"],
    fresh_ms: FRESH_MS,
    read: async (signal) => {
      const query = { limit: String(DELIVERIES) };
      return (await get<{ items: WebhookDelivery[] }>(`/v1/webhooks/${id}/deliveries`, query, signal)).items;
    },
  };
}

/** Returns the outcome of the last attempt. */
function outcome({ state, last_status, last_reason, attempts }: WebhookDelivery): string {
  if (attempts === 0 && state === "pending") return "not sent yet";
  return last_reason ?? `HTTP ${last_status}`;
}

const COLUMNS: readonly Column<WebhookDelivery>[] = [
  { name: "type", title: "Event", sorts: true, text: ({ type }) => type, cell: ({ type }) => type },
  {
    name: "state",
    title: "State",
    width: "110px",
    sorts: true,
    text: ({ state }) => state,
    cell: ({ state }) => <State of={state} />,
  },
  {
    name: "attempts",
    title: "Attempts",
    width: "110px",
    isNumeric: true,
    isWideOnly: true,
    sorts: true,
    text: ({ attempts }) => attempts,
    cell: ({ attempts }) => attempts,
  },
  { name: "outcome", title: "Last answer", text: outcome, cell: outcome },
  {
    name: "created",
    title: "Event at",
    width: "110px",
    sorts: true,
    text: ({ created_at }) => created_at,
    cell: ({ created_at }) => <When at={created_at} />,
  },
];

function labelWebhook({ id, name, labels }: Webhook): Action {
  return labelAction({ path: `/v1/webhooks/${id}`, argv: ["tenantctl", "webhook", "update", name], labels });
}

export function WebhookPage({ id }: { readonly id: string }) {
  const { data: webhook, refusal } = useQuery(webhookQuery(id));
  useActions(webhook === undefined ? [] : [...webhookActions(webhook), labelWebhook(webhook)]);
  const state = urlQuery.value.get("state") ?? "";
  if (webhook === undefined) {
    return (
      <>
        <Heading title="Webhook" />
        {refusal !== undefined && <Problem refusal={refusal} lookedFor={`webhook ${id}`} />}
      </>
    );
  }
  const { name, url, enabled, description, created_at } = webhook;
  const place = { tenant: webhook.tenant_id, project: webhook.project_id };
  return (
    <>
      <Heading title={name} above={<Link to={inProject(place, "webhooks")}>Webhooks</Link>}>
        <State of={enabled ? "enabled" : "disabled"} />
        <Actions />
      </Heading>
      {refusal !== undefined && <Problem refusal={refusal} lookedFor={`webhook ${id}`} isLate />}
      <Facts
        of={{
          "URL": url,
          "Events": eventsText(webhook),
          "Description": description,
          "Labels": labelTexts(webhook.labels).join(", ") || null,
          "Created": <When at={created_at} />,
          "UUID": <Copyable text={id} label="the UUID" />,
        }}
      />
      <Filters label="Deliveries" states={WEBHOOK_DELIVERY_STATES} />
      <WholeList<WebhookDelivery>
        label="Deliveries"
        columns={COLUMNS}
        query={deliveriesQuery(id)}
        idOf={(row) => row.id}
        keep={(row) => state === "" || row.state === state}
        actionsOf={(row) => [redeliver(row, webhook)]}
        empty={<p>No event was sent yet. Send a test to try the URL.</p>}
      />
      <AsCommand line={tenantctl("webhook deliveries", [name])} />
    </>
  );
}

function redeliver({ id, type }: WebhookDelivery, { id: webhook, name, enabled }: Webhook): Action {
  return {
    title: `Send ${type} again`,
    button: "Send",
    notice: "The message has the same id, so a receiver can recognize it.",
    refused: writersOnly() ?? (enabled ? null : "The webhook is disabled"),
    cli: () => tenantctl("webhook redeliver", [name, id]),
    send: async (_, key) => {
      await send("POST", `/v1/webhooks/${webhook}/deliveries/${id}/redeliver`, { key });
      return { said: "The event is sent again" };
    },
  };
}
