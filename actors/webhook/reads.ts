// Queries for webhooks and their deliveries.
import { type Kysely, sql } from "kysely";
import type { Webhook, WebhookDelivery } from "../../src/contract/webhook.ts";
import type { Database } from "../../src/db/tables.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { type LabeledPage, reader } from "../record/reads.ts";
import { webhook } from "./transition.ts";

type Db = Kysely<Database>;

const COLUMNS = [
  "id",
  "tenant_id",
  "project_id",
  "name",
  "description",
  "labels",
  "url",
  "events",
  "enabled",
  "created_at",
] as const;

const webhooks = reader("webhook", COLUMNS, (row) => webhook.view({ ...row, sealed_secret: "" }));

export const findWebhook = webhooks.find;

/** Lists the webhooks of a project in the order of their creation. */
export function listWebhooks(
  db: Db,
  { project_id, ...at }: LabeledPage & { readonly project_id: string },
): Promise<Webhook[]> {
  return webhooks.page(db, { project_id }, at);
}

const SHOWN = sql`id, webhook_id, type, event->>'resource' as resource, state, attempts, last_status, last_reason,
  attempted_at, created_at`;

export async function findDelivery(db: Db, webhook_id: string, id: string): Promise<WebhookDelivery | undefined> {
  const { rows } = await sql<Stored>`
    select ${SHOWN} from webhook_delivery where id = ${id} and webhook_id = ${webhook_id}`.execute(db);
  return rows.map(viewOf)[0];
}

export type DeliveryQuery = {
  readonly webhook_id: string;
  readonly state: string | null;
  /** If set, the id of a delivery: only older deliveries are listed. */
  readonly after: string | null;
  readonly rows: number;
};

/**
 * Lists the deliveries of a webhook, newest first. A delivery's number is not shown, because it counts the events of
 * the whole site. Returns null if the delivery `after` does not exist.
 */
export async function listDeliveries(db: Db, { webhook_id, state, after, rows: limit }: DeliveryQuery) {
  const { rows } = await sql<Stored>`
    select ${SHOWN} from webhook_delivery
     where webhook_id = ${webhook_id} and (${state}::text is null or state = ${state})
       and (${after}::uuid is null or number < (
         select number from webhook_delivery where id = ${after} and webhook_id = ${webhook_id}))
     order by number desc limit ${limit}`.execute(db);
  const is_lost = rows.length === 0 && after !== null && await findDelivery(db, webhook_id, after) === undefined;
  if (is_lost) return null;
  return rows.map(viewOf);
}

type Stored = Omit<WebhookDelivery, "attempted_at" | "created_at"> & {
  readonly attempted_at: Date | null;
  readonly created_at: Date;
};

function viewOf({ attempted_at, created_at, ...row }: Stored): WebhookDelivery {
  return {
    ...row,
    attempted_at: attempted_at === null ? null : toRfc3339(attempted_at),
    created_at: toRfc3339(created_at),
  };
}
