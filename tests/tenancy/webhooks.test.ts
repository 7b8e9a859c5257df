// Tests webhooks: the events that the server sends, their receivers and their order, and the retries after failures.
import { createHmac } from "node:crypto";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listDeliveries } from "../../actors/webhook/reads.ts";
import {
  SWEEP_ROWS,
  WEBHOOK_PAUSE_S_MAX,
  WEBHOOK_PENDING_MAX,
  WEBHOOK_RETRY_S,
  WEBHOOKS_PER_PROJECT_MAX,
} from "../../src/contract/limits.ts";
import { type Connection, openClient } from "../../src/db/pool.ts";
import { dropDeletedWebhooks } from "../../src/db/webhooks.ts";
import { selfSigned } from "../security/certificate.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { openGarbage, openReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";

let t: TestControlPlane;
let hook: WebhookReceiver;
let tenant: { readonly id: string; readonly project: string };
/** The ranges that the server may reach, besides public addresses. */
const ALLOWED = JSON.stringify(["127.0.0.0/8"]);

beforeAll(async () => {
  t = await openTestControlPlane({ env: { BERTH_FETCH_ALLOWED_PRIVATE: ALLOWED } });
  hook = await openReceiver();
  const silo = okOf(await t.call("POST", "/v1/silos", { body: { name: "hooks" } }));
  tenant = { id: silo.default_tenant_id, project: await newProject(silo.default_tenant_id) };
});

afterAll(async () => {
  await t?.close();
  await hook?.close();
});

async function newProject(tenant_id: string): Promise<string> {
  const body = { name: crypto.randomUUID().slice(0, 8) };
  return okOf(await t.call("POST", `/v1/tenants/${tenant_id}/projects`, { body })).id;
}

const inProject = (project = tenant.project) => `?tenant=${tenant.id}&project=${project}`;

async function newWebhook(fields: object = {}, project = tenant.project) {
  const body = { name: crypto.randomUUID(), url: hook.url, ...fields };
  return okOf(await t.call("POST", `/v1/webhooks${inProject(project)}`, { body }));
}

async function newVpc(name: string, project = tenant.project) {
  const body = { name, ipv4_block: "10.0.0.0/8" };
  return okOf(await t.call("POST", `/v1/vpcs${inProject(project)}`, { body }));
}

const drop = async ({ id }: { id: string }) => void okOf(await t.call("DELETE", `/v1/webhooks/${id}`));
const deliveriesOf = async (id: string, query = "") =>
  okOf(await t.call("GET", `/v1/webhooks/${id}/deliveries${query}`)).items;

/** Adds deliveries that wait, without making the webhook due. */
async function fill({ id }: { id: string }, deliveries: number): Promise<void> {
  const insert = `insert into webhook_delivery (webhook_id, type, event)
                    select $1, 'vpc_create', '{"data": {}}' from generate_series(1, $2::int)`;
  await t.db.query(insert, [id, deliveries]);
}

/** Returns the counter `webhook_queue.waiting` and the number of waiting rows, both from one query. */
async function waiting({ id }: { id: string }) {
  const query = `select waiting as counted, (select count(*) from webhook_delivery d
                                              where d.webhook_id = q.webhook_id and d.state = 'pending') as pending
                   from webhook_queue q where webhook_id = $1`;
  return (await t.db.query<{ counted: number; pending: number }>(query, [id])).rows[0]!;
}

async function until<V>(read: () => Promise<V>, matches: (value: V) => boolean): Promise<V> {
  for (let look = 0; look < 400; look++) {
    const value = await read();
    if (matches(value)) return value;
    await new Promise((wake) => setTimeout(wake, 25));
  }
  throw new Error("did not happen in 10 s");
}

test("a change of a project arrives once, with a signature that the secret verifies", async () => {
  const webhook = await newWebhook({ events: ["vpc_*"] });
  const vpc = await newVpc("signed");
  const { headers, body, event } = await hook.until(({ event }) => event.resource === `Vpc::"${vpc.id}"`);
  expect(event).toMatchObject({
    type: "vpc_create",
    tenant_id: tenant.id,
    project_id: tenant.project,
    actor: { kind: "api_key" },
    data: { name: "signed", project_id: tenant.project },
  });
  const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature } = headers;
  const key = Buffer.from(webhook.secret.replace("whsec_", ""), "base64");
  expect(id).toBe(event.id);
  expect(signature).toBe(`v1,${createHmac("sha256", key).update(`${id}.${at}.${body}`).digest("base64")}`);
  expect(Math.abs(Number(at) - Date.now() / 1_000)).toBeLessThan(30);
  const [delivery] = await until(() => deliveriesOf(webhook.id), ([first]) => first?.state === "delivered");
  expect(delivery).toMatchObject({ id, attempts: 1, last_status: 204, last_reason: null, type: "vpc_create" });
  expect(hook.received.filter(({ event }) => event.id === id)).toHaveLength(1);
  await drop(webhook);
});

test("the secret is only in the answer to the create, and is sealed in the database", async () => {
  const key = crypto.randomUUID();
  const body = { name: "secret", url: hook.url };
  const create = () => t.call("POST", `/v1/webhooks${inProject()}`, { body, headers: { "idempotency-key": key } });
  const first = okOf(await create());
  expect(okOf(await create()).secret).toBe(first.secret);
  expect(okOf(await t.call("GET", `/v1/webhooks/${first.id}`))).not.toHaveProperty("secret");
  const { rows } = await t.db.query("select to_jsonb(w)::text as text from webhook w where id = $1", [first.id]);
  const bare = first.secret.replace("whsec_", "");
  expect(rows[0]!.text).not.toContain(bare);
  const { rows: log } = await t.db.query("select from transition where audit::text like $1", [`%${bare}%`]);
  expect(log).toHaveLength(0);
  await drop(first);
});

test("the event of a delete names the project of the object and arrives; events of another project do not arrive", async () => {
  const other = await newProject(tenant.id);
  const webhook = await newWebhook({ events: ["vpc_delete", "vpc_create"] });
  const foreign = await newVpc("foreign", other);
  const own = await newVpc("gone");
  okOf(await t.call("DELETE", `/v1/vpcs/${own.id}`));
  await hook.until(({ event }) => event.type === "vpc_delete" && event.resource === `Vpc::"${own.id}"`);
  expect(hook.received.filter(({ event }) => event.resource === `Vpc::"${foreign.id}"`)).toHaveLength(0);
  await drop(webhook);
});

test("a failed delivery is repeated, and later deliveries wait for it, so that the order is kept", async () => {
  const webhook = await newWebhook({ events: ["vpc_create"] });
  let failures = 2;
  hook.answer = ({ event }) => event.type === "vpc_create" && failures-- > 0 ? 503 : 204;
  const names = ["one", "two", "three"].map((name) => `order-${name}`);
  for (const name of names) await newVpc(name);
  const [waiting] = await until(
    async () => (await deliveriesOf(webhook.id)).toReversed(),
    ([first]) => first?.attempts === 1,
  );
  expect(waiting).toMatchObject({ state: "pending", last_status: 503, last_reason: "the answer was 503" });
  // The pauses are 5 and 10 s at most.
  await t.advance(5);
  await until(() => deliveriesOf(webhook.id), (all) => all.at(-1)?.attempts === 2);
  await t.advance(10);
  await until(() => deliveriesOf(webhook.id, "?state=delivered"), (all) => all.length === 3);
  const seen = hook.received.filter(({ event }) => names.includes(String(event.data["name"])));
  expect(seen.map(({ event }) => event.data["name"])).toEqual([names[0], names[0], ...names]);
  expect(new Set(seen.slice(0, 3).map(({ event }) => event.id)).size).toBe(1);
  hook.answer = () => 204;
  await drop(webhook);
});

test("a test event that fails is not repeated, and later events do not wait for it", async () => {
  const webhook = await newWebhook({ events: ["vpc_create"] });
  hook.answer = ({ event }) => event.type === "webhook_test" ? 500 : 204;
  const { id } = okOf(await t.call("POST", `/v1/webhooks/${webhook.id}/test`));
  const [failed] = await until(() => deliveriesOf(webhook.id), ([first]) => first?.attempts > 0);
  expect(failed).toMatchObject({ id, state: "dead", attempts: 1, last_status: 500, last_reason: "the answer was 500" });
  await newVpc("after-test");
  await until(() => deliveriesOf(webhook.id, "?state=delivered"), (all) => all.length === 1);
  await t.advance(WEBHOOK_PAUSE_S_MAX);
  await t.plane.pass();
  expect(hook.received.filter(({ event }) => event.id === id)).toHaveLength(1);
  hook.answer = () => 204;
  await drop(webhook);
});

test("a test event is sent during the pause after a failure, and does not change the pause", async () => {
  const webhook = await newWebhook({ events: ["vpc_create"] });
  hook.answer = () => 503;
  await newVpc("pauses");
  await until(() => deliveriesOf(webhook.id), ([first]) => first?.attempts === 1);
  for (const status of [500, 204]) {
    hook.answer = () => status;
    okOf(await t.call("POST", `/v1/webhooks/${webhook.id}/test`));
    await until(() => deliveriesOf(webhook.id), ([newest]) => newest.last_status === status);
    await t.plane.pass();
  }
  const attempts = async () => (await deliveriesOf(webhook.id)).at(-1).attempts;
  expect(await attempts()).toBe(1);
  // The first pause is 5 s at most.
  await t.advance(5);
  await until(attempts, (made) => made === 2);
  await drop(webhook);
});

test("the events that wait are sent before a test event, even if the test event is older", async () => {
  const webhook = await newWebhook({ events: ["vpc_create"] });
  const holder = await openClient({ url: t.databaseUrl });
  await holder.query("begin");
  const insert = `insert into webhook_delivery (webhook_id, type, event) values ($1, $2, '{"data": {}}')`;
  for (const type of ["webhook_test", "vpc_create", "vpc_create"]) await holder.query(insert, [webhook.id, type]);
  await holder.query("select effect_webhook_queued(jsonb_build_object('webhook_id', $1::text))", [webhook.id]);
  await holder.query("commit");
  await holder.end();
  const sent = await until(() => deliveriesOf(webhook.id, "?state=delivered"), (all) => all.length === 3);
  const ids = sent.map(({ id }: { id: string }) => id);
  const types = hook.received.filter(({ event }) => ids.includes(event.id)).map(({ event }) => event.type);
  expect(types).toEqual(["vpc_create", "vpc_create", "webhook_test"]);
  await drop(webhook);
});

test("a change of a webhook ends its pause after a failure, so a corrected URL is tried at once", async () => {
  const webhook = await newWebhook({ events: ["vpc_create"], url: hook.url.replace(/:[0-9]+/, ":1") });
  await newVpc("corrected");
  for (let attempts = 1; attempts <= 4; attempts++) {
    await until(() => deliveriesOf(webhook.id), ([first]) => first?.attempts === attempts);
    if (attempts < 4) await t.advance(5 * 2 ** (attempts - 1));
  }
  okOf(await t.call("PATCH", `/v1/webhooks/${webhook.id}`, { body: { url: hook.url } }));
  await until(() => deliveriesOf(webhook.id), ([first]) => first?.state === "delivered");
  await drop(webhook);
});

test("deliveries that waited longer than a day are not sent all at once to a receiver that fails", async () => {
  const webhook = await newWebhook({ events: ["vpc_create"] });
  hook.answer = () => 429;
  for (const name of ["first", "second", "third"]) await newVpc(`late-${name}`);
  await until(() => deliveriesOf(webhook.id), (all) => all.at(-1)?.attempts === 1);
  const dead = () => deliveriesOf(webhook.id, "?state=dead");
  await t.advance(WEBHOOK_RETRY_S + 1);
  await until(dead, (all) => all.length === 1);
  await t.plane.pass();
  expect(await dead()).toHaveLength(1);
  hook.answer = () => 204;
  await t.advance(10);
  await until(() => deliveriesOf(webhook.id, "?state=delivered"), (all) => all.length === 2);
  await drop(webhook);
});

test("a delivery whose secret cannot be decrypted fails with a reason", async () => {
  const webhook = await newWebhook({ events: ["vpc_create"] });
  const other = await newWebhook({ events: ["firewall_rule_create"] });
  const swap = "update webhook set sealed_secret = (select sealed_secret from webhook where id = $2) where id = $1";
  await t.db.query(swap, [webhook.id, other.id]);
  await newVpc("unsealed");
  const [failed] = await until(() => deliveriesOf(webhook.id), ([first]) => first?.attempts > 0);
  expect(failed.last_reason).toBe("the server cannot decrypt the secret of the webhook; create a new webhook");
  await drop(webhook);
  await drop(other);
});

test("a delivery is dead after a day, and can be delivered again with its id", async () => {
  const webhook = await newWebhook({ events: ["vpc_create"] });
  hook.answer = () => 500;
  await newVpc("dead");
  await until(() => deliveriesOf(webhook.id), ([first]) => first?.attempts === 1);
  await t.advance(WEBHOOK_RETRY_S + 1);
  const [dead] = await until(() => deliveriesOf(webhook.id, "?state=dead"), (all) => all.length === 1);
  expect(dead).toMatchObject({ state: "dead", attempts: 2, last_status: 500 });
  hook.answer = () => 204;
  const path = `/v1/webhooks/${webhook.id}/deliveries/${dead.id}/redeliver`;
  expect(okOf(await t.call("POST", path))).toMatchObject({ id: dead.id, state: "pending", attempts: 0 });
  await until(() => deliveriesOf(webhook.id), ([first]) => first.state === "delivered");
  expect(hook.received.filter(({ event }) => event.id === dead.id)).toHaveLength(3);
  await drop(webhook);
});

test("a redirect is not followed, and a refused address gets no connection", async () => {
  const target = await openReceiver();
  const webhook = await newWebhook({ events: ["vpc_create"] });
  hook.answer = () => ({ redirect: target.url });
  okOf(await t.call("POST", `/v1/webhooks/${webhook.id}/test`));
  const [redirected] = await until(() => deliveriesOf(webhook.id), ([first]) => first?.attempts === 1);
  expect(redirected.last_reason).toBe("the answer was 302; redirects are not followed");
  expect(target.received).toHaveLength(0);
  hook.answer = () => 204;
  await drop(webhook);

  const inside = await newWebhook({ url: "http://[::1]:1/hook" });
  okOf(await t.call("POST", `/v1/webhooks/${inside.id}/test`));
  const all = await until(() => deliveriesOf(inside.id), (each) => each.at(-1)?.attempts === 1);
  expect(all.at(-1)).toMatchObject({
    last_status: null,
    last_reason: "the host has an address to which this site does not send events",
  });
  await drop(inside);
  await target.close();
});

test("a delivery to a closed port, to a name without an address or with an answer that is not HTTP shows its reason", async () => {
  const stranger = createServer(selfSigned("127.0.0.1"), (_request, response) => void response.end());
  await new Promise<void>((listening) => stranger.listen(0, "127.0.0.1", listening));
  const { port } = stranger.address() as AddressInfo;
  const garbage = await openGarbage();
  const reasons: Readonly<Record<string, RegExp>> = {
    "http://127.0.0.1:1/": /^the host accepted no connection$/,
    "http://no-such-host.invalid/": /^the name of the host has no address$/,
    [`https://127.0.0.1:${port}/`]: /^the TLS certificate of the host is not valid$/,
    [garbage.url]: /^the answer is not HTTP$/,
  };
  for (const [url, reason] of Object.entries(reasons)) {
    const webhook = await newWebhook({ url, events: ["webhook_test"] });
    okOf(await t.call("POST", `/v1/webhooks/${webhook.id}/test`));
    const [first] = await until(() => deliveriesOf(webhook.id), ([each]) => each?.attempts === 1);
    expect(first.last_reason, url).toMatch(reason);
    await drop(webhook);
  }
  stranger.close();
  garbage.close();
});

test("a disabled webhook sends nothing and gets no new events; when it is enabled again, it sends the events that waited when it was disabled", async () => {
  const webhook = await newWebhook({ events: ["vpc_create"] });
  hook.answer = () => 500;
  await newVpc("waits");
  await until(() => deliveriesOf(webhook.id), ([first]) => first?.attempts === 1);
  okOf(await t.call("PATCH", `/v1/webhooks/${webhook.id}`, { body: { enabled: false } }));
  expect((await t.call("POST", `/v1/webhooks/${webhook.id}/test`)).status).toBe(409);
  hook.answer = () => 204;
  await newVpc("unseen");
  await t.advance(5);
  await t.plane.pass();
  okOf(await t.call("PATCH", `/v1/webhooks/${webhook.id}`, { body: { enabled: true } }));
  await until(() => deliveriesOf(webhook.id), ([first]) => first?.state === "delivered");
  expect(await deliveriesOf(webhook.id)).toHaveLength(1);
  await drop(webhook);
});

describe("if the worker reads the events only after all changes were made", () => {
  /** Runs `act` while no worker turns events into deliveries: `holder` has the lock that this work needs. */
  async function unread(act: (holder: Connection) => Promise<void>): Promise<void> {
    const holder = await openClient({ url: t.databaseUrl });
    await holder.query("select pg_advisory_lock(hashtextextended('webhook-follow', 0))");
    await act(holder);
    await holder.end();
  }
  const enable = async ({ id }: { id: string }, enabled: boolean) =>
    void okOf(await t.call("PATCH", `/v1/webhooks/${id}`, { body: { enabled } }));
  const received = (names: readonly string[]) =>
    hook.received.map(({ event }) => event.data.name).filter((name) => names.includes(String(name)));

  test("if 10,000 deliveries wait, the next delivery is dead at once, and the server does not scan the deliveries to count them", async () => {
    const webhook = await newWebhook({ events: ["vpc_create"] });
    hook.answer = () => 500;
    await fill(webhook, WEBHOOK_PENDING_MAX - 1);
    await unread(async (holder) => {
      for (const name of ["last-place", "no-place"]) await newVpc(name);
      await until(async () => {
        // PostgreSQL can reset these statistics after a transaction, so one transaction does the work and reads them.
        await holder.query("begin");
        await holder.query("select webhook_follow(500, $1)", [WEBHOOK_PENDING_MAX]);
        const { rows } = await holder.query(
          "select seq_scan + idx_scan as scans from pg_stat_xact_user_tables where relname = 'webhook_delivery'",
        );
        await holder.query("commit");
        expect(rows).toEqual([{ scans: 0 }]);
        return (await deliveriesOf(webhook.id, "?limit=1"))[0];
      }, ({ state }) => state === "dead");
    });
    const [dead, last] = await deliveriesOf(webhook.id, "?limit=2");
    expect([dead, last]).toMatchObject([
      { state: "dead", attempts: 0, last_reason: "10000 deliveries were waiting" },
      { state: "pending", resource: expect.stringContaining("Vpc") },
    ]);
    // A redelivery and a test event increment the counter, and a finished delivery decrements it.
    okOf(await t.call("POST", `/v1/webhooks/${webhook.id}/deliveries/${dead.id}/redeliver`));
    okOf(await t.call("POST", `/v1/webhooks/${webhook.id}/test`));
    expect(await waiting(webhook)).toEqual({ counted: WEBHOOK_PENDING_MAX + 2, pending: WEBHOOK_PENDING_MAX + 2 });
    hook.answer = () => 204;
    okOf(await t.call("PATCH", `/v1/webhooks/${webhook.id}`, { body: { description: "ends the pause" } }));
    const { counted, pending } = await until(() => waiting(webhook), ({ counted }) => counted < WEBHOOK_PENDING_MAX);
    expect(counted).toBe(pending);
    await drop(webhook);
  });

  test("an event that happened while a webhook was disabled is not sent, and the events before and after are sent", async () => {
    const webhook = await newWebhook({ events: ["vpc_create"] });
    await unread(async () => {
      for (const name of ["before", "between", "after"]) {
        if (name !== "before") await enable(webhook, name === "after");
        await t.advance(1);
        await newVpc(name);
        await t.advance(1);
      }
    });
    await hook.until(({ event }) => event.data.name === "after");
    expect(received(["before", "between", "after"])).toEqual(["before", "after"]);
    await drop(webhook);
  });

  test("a webhook that is disabled and enabled twice gets the events of all times when it was enabled, and no other events", async () => {
    const webhook = await newWebhook({ events: ["vpc_create", "webhook_update"] });
    const names = ["on-1", "off-1", "on-2", "off-2", "on-3"];
    const all = ["on-1", webhook.name, webhook.name, "on-2", webhook.name, webhook.name, "on-3"];
    await unread(async () => {
      for (const name of names) {
        if (name !== "on-1") await enable(webhook, name.startsWith("on"));
        await newVpc(name);
      }
    });
    await hook.until(({ event }) => event.data.name === "on-3");
    expect(received([...names, webhook.name])).toEqual(all);
    // The next pass begins with the state at the end of this pass.
    await enable(webhook, false);
    await until(() => deliveriesOf(webhook.id), (each) => each.length === all.length + 1);
    await unread(async () => {
      await newVpc("off-3");
      await enable(webhook, true);
      await newVpc("on-4");
    });
    await hook.until(({ event }) => event.data.name === "on-4");
    expect(received([...names, "off-3", "on-4"])).toEqual(["on-1", "on-2", "on-3", "on-4"]);
    await drop(webhook);
  });

  test("a webhook that was created disabled gets the events from the time when it was enabled", async () => {
    let webhook!: Awaited<ReturnType<typeof newWebhook>>;
    await unread(async () => {
      webhook = await newWebhook({ events: ["vpc_create", "webhook_*"], enabled: false });
      await newVpc("closed");
      await enable(webhook, true);
      await newVpc("opened");
    });
    await hook.until(({ event }) => event.data.name === "opened");
    expect(received([webhook.name, "closed", "opened"])).toEqual([webhook.name, "opened"]);
    await drop(webhook);
  });

  test("an event from before a webhook was disabled is sent when the webhook is enabled again", async () => {
    const webhook = await newWebhook({ events: ["vpc_create"] });
    await enable(webhook, false);
    await newVpc("early");
    await enable(webhook, true);
    await unread(async () => {
      await newVpc("last");
      await enable(webhook, false);
      await t.advance(1);
      await newVpc("late");
    });
    await until(() => deliveriesOf(webhook.id), (all) => all.length === 1);
    await enable(webhook, true);
    await hook.until(({ event }) => event.data.name === "last");
    expect(received(["early", "last", "late"])).toEqual(["last"]);
    await drop(webhook);
  });
});

test(`a project has at most ${WEBHOOKS_PER_PROJECT_MAX} webhooks`, async () => {
  const project = await newProject(tenant.id);
  for (let n = 0; n < WEBHOOKS_PER_PROJECT_MAX; n++) await newWebhook({ events: ["vpc_create"] }, project);
  const body = { name: "one-more", url: hook.url };
  const refused = await t.call("POST", `/v1/webhooks${inProject(project)}`, { body });
  expect(refused.status).toBe(409);
  expect(refused.body.message).toContain(`already has ${WEBHOOKS_PER_PROJECT_MAX} webhooks`);
});

test.each([
  ["ftp://example.org/", "body.url: must be an http or https URL"],
  ["example.org", "body.url: must be an http or https URL"],
  ["http://user:secret@example.org/", "url"],
  ["https://example.org/#part", "url"],
  [undefined, "body.url: is required"],
  [7, "body.url: must be a string"],
])("the URL %s is refused, and the field is named", async (url, field) => {
  const refused = await t.call("POST", `/v1/webhooks${inProject()}`, { body: { name: "bad", url } });
  expect(refused.status).toBe(400);
  expect(refused.body.message).toContain(field);
  expect(refused.body.message).not.toContain(";");
  expect(refused.text).not.toContain("secret");
});

test("pages of deliveries have each delivery once, newest first", async () => {
  const webhook = await newWebhook({ events: ["webhook_test"] });
  const made: string[] = [];
  for (let n = 0; n < 5; n++) made.push(okOf(await t.call("POST", `/v1/webhooks/${webhook.id}/test`)).id);
  const seen: string[] = [];
  for (let token = "";;) {
    const { items, next_page } = okOf(
      await t.call("GET", `/v1/webhooks/${webhook.id}/deliveries?limit=2${token && `&page_token=${token}`}`),
    );
    seen.push(...items.map(({ id }: { id: string }) => id));
    if (next_page === undefined) break;
    token = next_page;
  }
  expect(seen).toEqual(made.toReversed());
  await drop(webhook);
});

test.each([
  ["dead", "delivered"],
  ["delivered", "dead"],
])(
  "a page of the %s deliveries reads no %s deliveries, because a webhook may have millions of them",
  async (state, other) => {
    const webhook = await newWebhook({ events: ["webhook_test"] });
    const insert = `insert into webhook_delivery (webhook_id, type, event, state, ended_at)
                    select $1, 'vpc_create', '{"data": {}}', $2, berth_now() from generate_series(1, $3::int)`;
    await t.db.query(insert, [webhook.id, state, 5]);
    await t.db.query(insert, [webhook.id, other, 20_000]);
    await t.db.query(insert, [webhook.id, state, 3]);
    await t.db.query("analyze webhook_delivery");
    const page = (after: string | null) =>
      t.db.kysely.transaction().execute(async (transaction) => {
        const items = await listDeliveries(transaction, { webhook_id: webhook.id, state, after, rows: 5 });
        const { rows: [read] } = await sql<{ rows: number }>`
        select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as rows
          from pg_stat_xact_user_tables where relname = 'webhook_delivery'`.execute(transaction);
        return { items: items ?? [], read: read!.rows };
      });
    const first = await page(null);
    const second = await page(first.items.at(-1)!.id);
    expect([first.items.length, second.items.length]).toEqual([5, 3]);
    // Each page reads its own rows, and the second page also reads the last row of the first page.
    expect(first.read).toBeLessThan(20);
    expect(second.read).toBeLessThan(20);
    await drop(webhook);
  },
);

test("a page token is refused if its delivery was deleted, because an empty page would mean that no older delivery exists", async () => {
  const webhook = await newWebhook({ events: ["webhook_test"] });
  for (let n = 0; n < 3; n++) okOf(await t.call("POST", `/v1/webhooks/${webhook.id}/test`));
  const path = `/v1/webhooks/${webhook.id}/deliveries?limit=1`;
  const { items: [newest], next_page } = okOf(await t.call("GET", path));
  expect(okOf(await t.call("GET", `${path}&page_token=${next_page}`)).items).toHaveLength(1);
  await t.db.query("delete from webhook_delivery where id = $1", [newest.id]);
  const { status, body } = await t.call("GET", `${path}&page_token=${next_page}`);
  expect([status, body.message]).toEqual([
    400,
    "page_token: the last entry of the previous page was not found, perhaps because it was deleted; " +
    "read the list from the start",
  ]);
  await drop(webhook);
});

test("the deliveries of a deleted webhook are deleted in batches by maintenance, because a webhook may have a million deliveries", async () => {
  const webhook = await newWebhook({ events: ["vpc_create"] });
  const kept = await newWebhook({ events: ["webhook_test"] });
  okOf(await t.call("POST", `/v1/webhooks/${kept.id}/test`));
  await fill(webhook, SWEEP_ROWS + 1);
  const stored = async ({ id }: { id: string }) => {
    const query = `select (select count(*)::int from webhook_delivery where webhook_id = $1) as deliveries,
                          (select count(*)::int from webhook_queue where webhook_id = $1) as queues`;
    return (await t.db.query<{ deliveries: number; queues: number }>(query, [id])).rows[0]!;
  };
  // The deletion of the webhook does not touch its deliveries. Maintenance skips rows that are locked.
  const holder = await openClient({ url: t.databaseUrl });
  await holder.query("begin");
  await holder.query("select from webhook_delivery where webhook_id = $1 for key share", [webhook.id]);
  await drop(webhook);
  expect((await t.call("GET", `/v1/webhooks/${webhook.id}/deliveries`)).status).toBe(404);
  await dropDeletedWebhooks(t.db);
  expect(await stored(webhook)).toEqual({ deliveries: SWEEP_ROWS + 1, queues: 1 });
  await holder.end();
  const swept = () => dropDeletedWebhooks(t.db).then(() => stored(webhook));
  await expect.poll(swept).toEqual({ deliveries: 0, queues: 0 });
  expect(await stored(kept)).toEqual({ deliveries: 1, queues: 1 });
  await drop(kept);
});

test("a test of a webhook and the reading of events both add a delivery, and do not deadlock", async () => {
  const webhook = await newWebhook({ events: ["vpc_create"], enabled: false });
  const [first, second] = [await openClient({ url: t.databaseUrl }), await openClient({ url: t.databaseUrl })];
  const { rows: [session] } = await second.query("select pg_backend_pid() as pid");
  const add = async (client: Connection) => {
    await client.query("begin");
    const insert = "insert into webhook_delivery (webhook_id, type, event) values ($1, 'vpc_create', '{}')";
    await client.query(insert, [webhook.id]);
  };
  const commit = async (client: Connection) => {
    await client.query("select effect_webhook_queued(jsonb_build_object('webhook_id', $1::text))", [webhook.id]);
    await client.query("commit");
    await client.end();
  };
  await add(first);
  const added = add(second);
  const query = "select wait_event_type from pg_stat_activity where pid = $1";
  const waits = async () => (await t.db.query(query, [session.pid])).rows[0].wait_event_type;
  await until(waits, (type) => type === "Lock");
  await commit(first);
  await added;
  await commit(second);
  expect(await deliveriesOf(webhook.id)).toHaveLength(2);
  await drop(webhook);
});
