// Defines the routes for webhooks of a project (docs/webhooks.md).
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findDelivery, findWebhook, listDeliveries, listWebhooks } from "../../actors/webhook/reads.ts";
import { scopeOf } from "../auth/authorize.ts";
import { atRow, inProject } from "../auth/resource-scope.ts";
import { page, PageQuery, Uuid } from "../contract/common.ts";
import { WEBHOOK_DELIVERY_STATES } from "../contract/enums.ts";
import { isFault, NOT_FOUND } from "../contract/fault.ts";
import { LabelQuery } from "../contract/labels.ts";
import { WEBHOOKS_PER_PROJECT_MAX } from "../contract/limits.ts";
import {
  Webhook,
  WebhookBody,
  WebhookCreated,
  type WebhookCreated as Created,
  WebhookDelivery,
  WebhookPatch,
} from "../contract/webhook.ts";
import { faultResponse } from "../http/fault-status.ts";
import { pageById } from "../http/page.ts";
import { unknownEvent } from "../services/webhook-events.ts";
import { answers, answersCreated, jsonBody, rights } from "./answer.ts";
import type { App, Ctx, RouteDeps, Writes } from "./deps.ts";
import { deleteRecord, showRecord } from "./record-routes.ts";

type Deps = Writes & Pick<RouteDeps, "mint">;

const tags = ["Webhooks"];
const ofProject = z.object({ tenant: Uuid, project: Uuid });

const webhook = {
  kind: "webhook",
  tags,
  path: "/v1/webhooks/{webhook_id}",
  params: z.object({ webhook_id: Uuid }),
  id: "webhook_id",
  schema: Webhook,
  described: "The webhook",
  locate: atRow("webhook", "webhook_id"),
  has_labels: true,
} as const;

export function webhookRoutes(app: App, deps: Deps): void {
  recordRoutes(app, deps);
  deliveryRoutes(app, deps);
}

function recordRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/webhooks",
    tags,
    summary: "List the webhooks of a project, oldest first",
    ...rights(deps, "WebhookList", inProject),
    request: { query: ofProject.extend({ label: LabelQuery, ...PageQuery }) },
    responses: answers(page(Webhook), "The webhooks, without secrets"),
  });
  app.openapi(listRoute, async (c) => {
    const { project: project_id, label: labels, ...query } = c.req.valid("query");
    const result = await pageById(query, (at) => listWebhooks(deps.kysely, { project_id, labels, ...at }));
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const createWebhookRoute = createRoute({
    method: "post",
    path: "/v1/webhooks",
    tags,
    summary: "Create a webhook",
    description:
      "From now on, the server sends events of the project to the URL with POST. Only this response contains the " +
      "secret of the signatures. For 24 hours, a request with the same Idempotency-Key gets this response again. 409 " +
      `if the project has ${WEBHOOKS_PER_PROJECT_MAX} webhooks.`,
    ...rights(deps, "WebhookCreate", inProject),
    request: { query: ofProject, body: jsonBody(WebhookBody) },
    responses: answersCreated(WebhookCreated, "The webhook, with its secret"),
  });
  app.openapi(createWebhookRoute, async (c) => {
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const { tenant_id, project_id } = scopeOf(c);
    if (tenant_id === null || project_id === null) return faultResponse(c, NOT_FOUND);
    const { id } = idempotency;
    const secret = deps.mint.webhookSecret(id);
    const sealed_secret = deps.mint.sealWebhookSecret(id, secret);
    const body = c.req.valid("json");
    const unknown = unknownEvent(body.events);
    if (unknown !== null) return faultResponse(c, unknown);
    const message = { type: "create", id, tenant_id, project_id, ...body, sealed_secret } as const;
    const outcome = await deps.send(c, { kind: "webhook", id }, message, idempotency);
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    const created: Created = { ...outcome.reply, secret };
    return c.json(created, 201);
  });

  showRecord(app, deps, { ...webhook, action: "WebhookGet", summary: "Show a webhook", find: findWebhook });

  const updateRoute = createRoute({
    method: "patch",
    path: webhook.path,
    tags,
    summary: "Change, enable or disable a webhook",
    description:
      "Missing fields stay unchanged. Deliveries that wait when a webhook is disabled are sent after the webhook is " +
      "enabled.",
    ...rights(deps, "WebhookUpdate", webhook.locate),
    request: { params: webhook.params, body: jsonBody(WebhookPatch) },
    responses: answers(Webhook, "The webhook"),
  });
  app.openapi(updateRoute, async (c) => {
    const { webhook_id: id } = c.req.valid("param");
    const { name, description, labels, url, events, enabled } = c.req.valid("json");
    const unknown = unknownEvent(events ?? []);
    if (unknown !== null) return faultResponse(c, unknown);
    const outcome = await deps.sendOnce(c, { kind: "webhook", id }, {
      type: "update",
      name: name ?? null,
      description: description ?? null,
      labels: labels ?? null,
      url: url ?? null,
      events: events ?? null,
      enabled: enabled ?? null,
    });
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });

  deleteRecord(app, deps, {
    ...webhook,
    action: "WebhookDelete",
    summary: "Delete a webhook with its deliveries",
    description: "Deliveries that wait are deleted, too.",
  });
}

function deliveryRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: `${webhook.path}/deliveries`,
    tags,
    summary: "List the deliveries of a webhook, newest first",
    ...rights(deps, "WebhookDeliveryList", webhook.locate),
    request: {
      params: webhook.params,
      query: z.object({ state: z.enum(WEBHOOK_DELIVERY_STATES).optional(), ...PageQuery }),
    },
    responses: answers(page(WebhookDelivery), "The deliveries"),
  });
  app.openapi(listRoute, async (c) => {
    const { webhook_id } = c.req.valid("param");
    const { state = null, ...query } = c.req.valid("query");
    const result = await pageById(
      query,
      ({ after, rows }) => listDeliveries(deps.kysely, { webhook_id, state, after: after ?? null, rows }),
    );
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const ofDelivery = z.object({ webhook_id: Uuid, delivery_id: Uuid });
  const showRoute = createRoute({
    method: "get",
    path: `${webhook.path}/deliveries/{delivery_id}`,
    tags,
    summary: "Show a delivery of a webhook",
    ...rights(deps, "WebhookDeliveryGet", webhook.locate),
    request: { params: ofDelivery },
    responses: answers(WebhookDelivery, "The delivery"),
  });
  app.openapi(showRoute, async (c) => {
    const { webhook_id, delivery_id } = c.req.valid("param");
    return answerDelivery(c, await findDelivery(deps.kysely, webhook_id, delivery_id), 200);
  });

  const testRoute = createRoute({
    method: "post",
    path: `${webhook.path}/test`,
    tags,
    summary: "Send a test event to a webhook",
    description:
      "The event has the type webhook_test. It is sent once: if it fails, its delivery is dead, and no other " +
      "event waits for it. Its delivery shows the outcome. 409 if the webhook is disabled.",
    ...rights(deps, "WebhookTest", webhook.locate),
    request: { params: webhook.params },
    responses: answersCreated(WebhookDelivery, "The delivery"),
  });
  app.openapi(testRoute, async (c) => {
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const { webhook_id: id } = c.req.valid("param");
    const delivery_id = deps.mint.idFrom(idempotency.id, "webhook-delivery");
    const outcome = await deps.send(c, { kind: "webhook", id }, { type: "test", delivery_id }, idempotency);
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    return answerDelivery(c, await findDelivery(deps.kysely, id, outcome.reply.id), 201);
  });

  const redeliverRoute = createRoute({
    method: "post",
    path: `${webhook.path}/deliveries/{delivery_id}/redeliver`,
    tags,
    summary: "Send a delivery again",
    description: "The delivery keeps its id and its place in the order of the events. 409 if the webhook is disabled.",
    ...rights(deps, "WebhookRedeliver", webhook.locate),
    request: { params: ofDelivery },
    responses: answers(WebhookDelivery, "The delivery"),
  });
  app.openapi(redeliverRoute, async (c) => {
    const { webhook_id: id, delivery_id } = c.req.valid("param");
    const outcome = await deps.sendOnce(c, { kind: "webhook", id }, { type: "redeliver", delivery_id });
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    return answerDelivery(c, await findDelivery(deps.kysely, id, delivery_id), 200);
  });
}

function answerDelivery<S extends 200 | 201>(c: Ctx, found: WebhookDelivery | undefined, status: S) {
  return found === undefined ? faultResponse(c, NOT_FOUND) : c.json(found, status);
}
