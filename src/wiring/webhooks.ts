// Connects the sender of webhooks to the database and to the process that fetches for the server.
import type { Ports } from "../../actors/engine/ports.ts";
import type { Mint } from "../auth/mint.ts";
import { WEBHOOK_ANSWER_MS } from "../contract/limits.ts";
import type { Db } from "../db/pool.ts";
import {
  type Attempt,
  dropDeletedWebhooks,
  dropEndedDeliveries,
  followEvents,
  recordAttempt,
  takeWebhooks,
} from "../db/webhooks.ts";
import { signatureHeaders } from "../lib/crypto/webhook-signature.ts";
import type { DocumentFetch } from "../outbound/document.ts";
import { REDIRECT_STATUSES } from "../outbound/connector.ts";
import { failureOf, type FetchFailure } from "../outbound/failure.ts";
import type { Settings } from "../services/settings.ts";
import { VERSION } from "../version.ts";
import { createWebhooks, type Sent } from "../workers/webhooks.ts";

type WebhookPorts = {
  readonly db: Db;
  readonly mint: Pick<Mint, "openWebhookSecret">;
  readonly settings: Pick<Settings, "allowedPrivate" | "get">;
  readonly fetch: DocumentFetch;
  readonly ports: Pick<Ports, "report">;
};

/** Reasons that a tenant may read. The error itself may name addresses that only this site's resolver knows. */
const REASONS: Readonly<Record<FetchFailure, string>> = {
  refused: "the host has an address to which this site does not send events",
  no_name: "the name of the host has no address",
  not_connected: "the host accepted no connection",
  tls: "the TLS certificate of the host is not valid",
  timeout: `no answer within ${WEBHOOK_ANSWER_MS / 1_000} s`,
  not_http: "the answer is not HTTP",
  broken: "the connection ended before an answer",
};

const SECRET_LOST = "the server cannot decrypt the secret of the webhook; create a new webhook";

export function createWebhooksOfServer({ db, mint, settings, fetch, ports }: WebhookPorts) {
  async function send(attempt: Attempt): Promise<Sent> {
    const { webhook_id, delivery_id: id, url } = attempt;
    let secret: string;
    try {
      secret = mint.openWebhookSecret(webhook_id, attempt.sealed_secret);
    } catch (error) {
      // The attempt counts as failed, with a reason that the tenant sees. A thrown error would hold back all later
      // deliveries without a visible reason.
      ports.report(`the secret of webhook ${webhook_id} cannot be decrypted`, error);
      return { status: null, reason: SECRET_LOST };
    }
    const body = bodyOf(attempt);
    const sent_at_s = Math.floor(Date.now() / 1_000);
    const headers = {
      "content-type": "application/json",
      "user-agent": `berth-webhook/${VERSION}`,
      ...signatureHeaders(secret, { id, sent_at_s, body }),
    };
    const allowed = await settings.allowedPrivate();
    try {
      const event = { body, headers };
      const { status } = await fetch({ url, allowed, named: [], event, bytes_max: 0, total_ms: WEBHOOK_ANSWER_MS });
      return { status, reason: reasonOf(status) };
    } catch (error) {
      return { status: null, reason: REASONS[failureOf(error)] };
    }
  }

  return createWebhooks({
    follow: () => followEvents(db),
    take: (rows_max, busy) => takeWebhooks(db, rows_max, busy),
    send,
    record: (attempt, end) => recordAttempt(db, attempt, end),
    random: Math.random,
    ports,
  });
}

/**
 * Deletes deliveries that ended longer ago than the setting webhook.retention_secs, and the deliveries of deleted
 * webhooks.
 */
export async function pruneDeliveries(db: Db, settings: Pick<Settings, "get">): Promise<void> {
  await dropDeletedWebhooks(db);
  await dropEndedDeliveries(db, Number((await settings.get("webhook.retention_secs")).value));
}

function bodyOf({ delivery_id: id, type, event }: Attempt): string {
  const { time, tenant_id, project_id, resource, actor, request_id, data } = event;
  return JSON.stringify({ id, type, time, tenant_id, project_id, resource, actor, request_id, data });
}

function reasonOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  return `the answer was ${status}${REDIRECT_STATUSES.includes(status) ? "; redirects are not followed" : ""}`;
}
