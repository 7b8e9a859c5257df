import type { Webhook, WebhookDelivery } from "../../../src/contract/webhook.ts";
import { AGE_COLUMN, type Column, ID_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";
import type { Kind } from "../record/kind.ts";

export const WEBHOOK: Kind<Webhook> = {
  noun: "webhook",
  singular: "webhook",
  plural: "webhooks",
  title: "Webhook",
  path: "/v1/webhooks",
  has_labels: true,
  sample: "chat",
  parent: "project",
  columns: [
    ["NAME", (webhook) => webhook.name],
    ["ID", (webhook) => webhook.id, ID_COLUMN],
    ["ENABLED", (webhook) => webhook.enabled ? "yes" : "no"],
    ["EVENTS", (webhook) => eventsText(webhook)],
    ["URL", (webhook) => webhook.url],
  ],
  lines: (webhook) => [
    ["id", webhook.id],
    ["name", webhook.name],
    ["description", webhook.description],
    ["url", webhook.url],
    ["events", eventsText(webhook)],
    ["enabled", webhook.enabled],
    ["project", webhook.project_id],
    ["created_at", webhook.created_at],
  ],
};

export const DELIVERY_COLUMNS: readonly Column<WebhookDelivery>[] = [
  ["ID", (delivery) => delivery.id, ID_COLUMN],
  ["TYPE", (delivery) => delivery.type],
  ["STATE", (delivery) => delivery.state],
  ["TRIES", (delivery) => delivery.attempts],
  ["STATUS", (delivery) => delivery.last_status ?? undefined],
  ["REASON", (delivery) => delivery.last_reason ?? undefined],
  ["AGE", (delivery) => delivery.created_at, AGE_COLUMN],
  ["CREATED_AT", (delivery) => delivery.created_at, WIDE_COLUMN],
];

/** Returns the lines that describe a delivery. */
export function deliveryLines(delivery: WebhookDelivery): readonly (readonly [string, unknown])[] {
  return [
    ["id", delivery.id],
    ["type", delivery.type],
    ["resource", delivery.resource],
    ["state", delivery.state],
    ["attempts", delivery.attempts],
    ["last_status", delivery.last_status],
    ["last_reason", delivery.last_reason],
    ["attempted_at", delivery.attempted_at],
  ];
}

function eventsText({ events }: Webhook): string {
  return events.length === 0 ? "all" : events.join(",");
}
