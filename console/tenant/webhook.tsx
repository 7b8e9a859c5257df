// Shows one webhook with its deliveries.
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Page } from "../../src/contract/common.ts";
import type { Webhook, WebhookDelivery } from "../../src/contract/webhook.ts";
import { WEBHOOK_DELIVERY_STATES } from "../../src/contract/enums.ts";
import { type Action, useActions } from "../core/action.ts";
import { get, send } from "../core/client.ts";
import { tenantctl } from "../core/command.ts";
import { labelAction, labelTexts } from "../core/labels.ts";
import { narrow, query as urlQuery } from "../core/router.ts";
import { writersOnly } from "../core/session.ts";
import type { Query } from "../core/store.ts";
import { Actions } from "../parts/actions.tsx";
import { AsCommand, Copyable, Facts, Heading, Link, Problem, State, When } from "../parts/basics.tsx";
import type { Column } from "../parts/list.tsx";
import { Filters } from "../parts/list-page.tsx";
import { RowList } from "../parts/lists.tsx";
import { useQuery } from "../parts/use-query.ts";
import { inProject } from "./place.ts";
import { useProjectOf } from "./projects.tsx";
import { eventsText, webhookActions } from "./webhooks.tsx";

/**
 * The page reads the deliveries again after this time, in milliseconds, because the change feed does not report
 * attempts.
 */
const FRESH_MS = 5_000;
/** The number of deliveries in one step. The page begins with one step, and the user can add steps. */
const STEP_DELIVERIES = 200;

type Deliveries = { readonly rows: readonly WebhookDelivery[]; readonly hasOlder: boolean };

function webhookQuery(id: string): Query<Webhook> {
  return {
    key: `webhook ${id}`,
    kinds: ["webhook"],
    read: (signal) => get<Webhook>(`/v1/webhooks/${id}`, undefined, signal),
  };
}

/** Reads the newest deliveries. Unless `state` is empty, reads only the deliveries in this state. */
function deliveriesQuery(id: string, state: string, steps: number): Query<Deliveries> {
  return {
    key: `deliveries of ${id} ${state} ${steps}`,
    kinds: ["webhook"],
    // Only a list of one step is read this often, because each further step is one more request.
    ...(steps === 1 && { fresh_ms: FRESH_MS }),
    read: async (signal) => {
      const rows: WebhookDelivery[] = [];
      let page_token: string | undefined;
      do {
        const query = { state, limit: STEP_DELIVERIES, page_token };
        const page = await get<Page<WebhookDelivery>>(`/v1/webhooks/${id}/deliveries`, query, signal);
        rows.push(...page.items);
        page_token = page.next_page;
      } while (page_token !== undefined && rows.length < steps * STEP_DELIVERIES);
      return { rows, hasOlder: page_token !== undefined };
    },
  };
}

/** Returns the outcome of the last attempt, or "not sent yet" before the first attempt. */
function outcome({ state, last_status, last_reason, attempts }: WebhookDelivery): string {
  if (attempts === 0 && state === "pending") return "not sent yet";
  return last_reason ?? `HTTP ${last_status}`;
}

const COLUMNS: readonly Column<WebhookDelivery>[] = [
  { name: "type", title: "Event", sorts: true, text: ({ type }) => type, cell: ({ type }) => type },
  {
    name: "state",
    title: "State",
    width: "130px",
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
  useProjectOf(webhook);
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
      <DeliveryList key={state} webhook={webhook} state={state} />
      <AsCommand line={tenantctl("webhook deliveries", [name], { "--state": state })} />
    </>
  );
}

/** The deliveries in `state`, or in all states if `state` is empty. */
function DeliveryList({ webhook, state }: { readonly webhook: Webhook; readonly state: string }) {
  const steps = useSignal(1);
  const { data, busy, refusal } = useQuery(deliveriesQuery(webhook.id, state, steps.value));
  // The list keeps its rows while the next step is read.
  const last = useRef(data);
  const shown = last.current = data ?? last.current;
  const text = urlQuery.value.get("q") ?? "";
  return (
    <>
      <RowList
        label="Deliveries"
        isPart
        columns={COLUMNS}
        listKey={`deliveries of ${webhook.id} ${state}`}
        rows={shown?.rows}
        busy={busy}
        refusal={refusal}
        idOf={(row) => row.id}
        actionsOf={(row) => [redeliver(row, webhook)]}
        empty={text === "" && state === "" ? <p>No event was sent yet. Send a test to try the URL.</p> : (
          <>
            <p>No delivery matches.</p>
            <button type="button" onClick={() => narrow({ q: undefined, state: undefined })}>Show all</button>
          </>
        )}
      />
      {shown?.hasOlder === true && (
        <p>
          <button type="button" aria-disabled={busy} onClick={() => busy || steps.value++}>
            Show older deliveries
          </button>
          {text !== "" && <span class="dim">The filter searches the newest {shown.rows.length} deliveries.</span>}
        </p>
      )}
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
