// Defines the schemas of webhooks. A webhook sends events of a project to a URL (docs/webhooks.md).
import { z } from "zod";
import { WEBHOOK_EVENTS } from "./audit-actions.ts";
import { Timestamp, withDefault } from "./common.ts";
import { WEBHOOK_DELIVERY_STATES } from "./enums.ts";
import { Labels, LabelsPatch, NewLabels } from "./labels.ts";
import { WEBHOOK_EVENTS_MAX, WEBHOOK_URL_CHARS_MAX } from "./limits.ts";
import { Description, NamedPatch, ResourceName } from "./tenancy.ts";

const EventPattern = z.string().regex(
  /^(?:\*|[a-z][a-z0-9_]{0,62}\*?)$/,
  "an event must be an action such as instance_create, a prefix and a star such as instance_*, or a star alone",
);

const Url = z.url({
  protocol: /^https?$/,
  // A missing URL and a value of another type get zod's own error texts.
  error: ({ code }) => code === "invalid_format" ? "must be an http or https URL" : undefined,
  abort: true,
}).max(WEBHOOK_URL_CHARS_MAX).refine(isPlain, {
  error: "must have no user name, no password and no fragment",
});

const Events = z.array(EventPattern).max(WEBHOOK_EVENTS_MAX).describe(
  "The actions whose events are sent, named as in the audit chain. `instance_*` means all actions that begin with " +
    "instance_. [] means all actions",
);

/** The events of a new or changed webhook. An older webhook may still have events that no longer exist. */
const NewEvents = Events.describe(
  `${Events.description}. 400 for an event that does not exist and for a prefix without events. The events: ` +
    WEBHOOK_EVENTS.join(", "),
);

/** A webhook of a project. */
export const Webhook = z.object({
  id: z.string(),
  tenant_id: z.string(),
  project_id: z.string(),
  name: z.string(),
  description: z.string(),
  labels: Labels,
  url: z.string(),
  events: Events,
  enabled: z.boolean().describe(
    "A disabled webhook sends nothing. Events that happen while it is disabled are never sent",
  ),
  created_at: Timestamp,
});
export type Webhook = z.infer<typeof Webhook>;

/** The answer to the request that created the webhook. No other answer contains the secret. */
export const WebhookCreated = Webhook.extend({
  secret: z.string().describe("whsec_, followed by the key of the signatures in base64"),
});
export type WebhookCreated = z.infer<typeof WebhookCreated>;

/** The body that creates a webhook. */
export const WebhookBody = z.strictObject({
  name: ResourceName,
  description: withDefault(Description, ""),
  labels: withDefault(NewLabels, {}),
  url: Url.describe("http or https; the setting fetch.allowed_private limits private addresses"),
  events: withDefault(NewEvents, []),
  enabled: withDefault(z.boolean(), true),
});
export type WebhookBody = z.infer<typeof WebhookBody>;

/** The body that changes a webhook. Missing fields stay unchanged. */
export const WebhookPatch = NamedPatch.extend({
  labels: LabelsPatch.nullish(),
  url: Url.nullish(),
  events: NewEvents.nullish(),
  enabled: z.boolean().nullish(),
});
export type WebhookPatch = z.infer<typeof WebhookPatch>;

/** A delivery: one event that the server sends to a webhook. */
export const WebhookDelivery = z.object({
  id: z.string().describe("The id of the message. It is the same in every attempt"),
  webhook_id: z.string(),
  type: z.string().describe("The action of the event, or webhook_test"),
  resource: z.string().nullable().describe('The object of the event, such as Instance::"UUID"'),
  state: z.enum(WEBHOOK_DELIVERY_STATES),
  attempts: z.number().int(),
  last_status: z.number().int().nullable().describe("The HTTP status of the last attempt; null if no answer arrived"),
  last_reason: z.string().nullable().describe(
    "Why the last attempt failed, or why the delivery was never sent; null after a success",
  ),
  attempted_at: Timestamp.nullable(),
  created_at: Timestamp,
});
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

function isPlain(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.username === "" && url.password === "" && !text.includes("#");
}
