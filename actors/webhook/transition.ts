// A webhook of a project: events of the project are sent to its URL (docs/webhooks.md). Its deliveries are not actors:
// SQL functions create them from the audit chain and record the attempts (src/db/webhooks.ts).
import { conflict, NOT_FOUND } from "../../src/contract/fault.ts";
import { WEBHOOKS_PER_PROJECT_MAX } from "../../src/contract/limits.ts";
import type { Webhook, WebhookDelivery } from "../../src/contract/webhook.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import type { Named } from "../../src/lib/text/resource-name.ts";
import { audit, effect, go, guard, insert, lock, reply } from "../engine/effects.ts";
import type { Of } from "../engine/table.ts";
import type { Out } from "../engine/types.ts";
import { type Create, type Delete, record, type RecordState, type Update } from "../record/record.ts";

type Columns = Named & {
  readonly id: string;
  readonly tenant_id: string;
  readonly project_id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly enabled: boolean;
  readonly sealed_secret: string;
};

/** Null keeps the present value. */
type UpdateWebhook = Update & {
  readonly url: string | null;
  readonly events: readonly string[] | null;
  readonly enabled: boolean | null;
};
/** Sends an event of the type webhook_test. */
type Test = { readonly type: "test"; readonly delivery_id: string };
type Redeliver = { readonly type: "redeliver"; readonly delivery_id: string };

export type WebhookMessage = Create<Columns> | UpdateWebhook | Delete | Test | Redeliver;

export type WebhookState = RecordState<Columns>;

type Queued = Pick<WebhookDelivery, "id">;

const DISABLED = conflict("the webhook is disabled; enable it first");

export const webhook = record<WebhookState, WebhookMessage, Webhook>({
  kind: "webhook",
  table: "webhook",
  noun: "webhook",
  resource: "Webhook",
  parent: ({ project_id }) => lockKey("project", project_id),
  create: {
    action: "webhook_create",
    note: noted,
    parts: ({ id, tenant_id, project_id }) => [
      lock(lockKey("webhooks", project_id)),
      guard(
        "project_has_webhook_room",
        { project_id, max: WEBHOOKS_PER_PROJECT_MAX },
        `the project already has ${WEBHOOKS_PER_PROJECT_MAX} webhooks, the most that it may have; delete one first`,
      ),
      insert("webhook_queue", { webhook_id: id, tenant_id }),
    ],
  },
  update: {
    action: "webhook_update",
    note: noted,
    row: (named, { url, events, enabled }) => ({
      ...named,
      url: url ?? named.url,
      events: events ?? named.events,
      enabled: enabled ?? named.enabled,
    }),
    // The change may have removed the cause of a failure, so the pause after the failure ends.
    parts: ({ id, enabled }) => enabled ? [effect("webhook_queued", { webhook_id: id, ends_pause: true })] : [],
  },
  delete: { action: "webhook_delete", note: noted },
  others: {
    test: { absent: "missing", live: test },
    redeliver: { absent: "missing", live: redeliver },
  },
  has_labels: true,
  view: (row) => ({
    id: row.id,
    tenant_id: row.tenant_id,
    project_id: row.project_id,
    name: row.name,
    description: row.description,
    labels: row.labels ?? {},
    url: row.url,
    events: [...row.events],
    enabled: row.enabled,
    created_at: toRfc3339(row.created_at),
  }),
  constraints: {
    webhook_name: conflict("a webhook named <name> already exists in this project"),
    webhook_project_fkey: NOT_FOUND,
  },
});

/** The path and the query of a URL may contain a secret, so the audit entry has only the URL's origin. */
function noted({ name, tenant_id, project_id, url, events, enabled }: WebhookState) {
  return { name, tenant_id, project_id, origin: new URL(url).origin, events, enabled };
}

function test(s: WebhookState, m: Of<WebhookMessage, "test">, now: Date): Out<WebhookState> {
  if (!s.enabled) return { out: "refuse", fault: DISABLED };
  const { id: webhook_id, tenant_id, project_id } = s;
  const resource = `Webhook::"${webhook_id}"`;
  const event = {
    time: toRfc3339(now),
    tenant_id,
    project_id,
    resource,
    actor: null,
    request_id: null,
    data: { webhook_id },
  };
  return queued(s, m, [
    insert("webhook_delivery", { id: m.delivery_id, webhook_id, type: "webhook_test", event }),
    effect("webhook_queued", { webhook_id, ends_pause: false }),
  ]);
}

function redeliver(s: WebhookState, m: Of<WebhookMessage, "redeliver">): Out<WebhookState> {
  if (!s.enabled) return { out: "refuse", fault: DISABLED };
  const of = { id: m.delivery_id, webhook_id: s.id };
  return queued(s, m, [
    guard("webhook_delivery_exists", of, NOT_FOUND),
    effect("webhook_redelivered", of),
  ]);
}

function queued(s: WebhookState, m: Test | Redeliver, parts: Parameters<typeof go<WebhookState>>[1][]) {
  const { tenant_id, project_id } = s;
  return go(
    s,
    ...parts,
    audit(`webhook_${m.type}`, `Webhook::"${s.id}"`, { tenant_id, project_id, delivery_id: m.delivery_id }),
    reply({ id: m.delivery_id } satisfies Queued),
  );
}
