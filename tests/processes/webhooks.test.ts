// Tests webhooks from end to end: the compiled tenantctl creates a webhook, and a receiver gets the events, even if the
// server is killed. The server runs as `task start` starts it.
import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WEBHOOK_LEASE_S } from "../../src/contract/limits.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { type ServerProcess, startServer } from "../support/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { openReceiver, type ReceivedEvent, type WebhookReceiver } from "../support/webhook-receiver.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import { call } from "./console-fixture.ts";
import { buildExecutables, run } from "./executables.ts";

/** If a process is killed while it sends an event, its claim on the event lasts this long. */
const CLAIM_MS = WEBHOOK_LEASE_S * 1_000;
const MARGIN_MS = 30_000;

let database: FreshDatabase;
let folder: TemporaryFolder;
let hook: WebhookReceiver;
let server: ServerProcess;
let tenant: TestTenant;
let secret: string;

beforeAll(async () => {
  await buildExecutables(["tenantctl"]);
  database = await freshDatabase();
  folder = await temporaryFolder("webhooks");
  hook = await openReceiver();
  server = await start();
  tenant = await openTenant({ call: (method, path, options) => call(server.url, method, path, options) });
}, 240_000);

afterAll(async () => {
  await server?.kill();
  await hook?.close();
  await database?.drop();
  await folder?.remove();
});

const start = () =>
  startServer({
    env: { DATABASE_URL: database.url, BERTH_FETCH_ALLOWED_PRIVATE: JSON.stringify(["127.0.0.0/8"]) },
    as_task: true,
  });

const tenantctl = (...argv: string[]) =>
  run("tenantctl", argv, {
    env: { HOME: folder.path, TENANTCTL_ENDPOINT: server.url, TENANTCTL_API_KEY: tenant.key, NO_COLOR: "1" },
  });

async function json(...argv: string[]) {
  const { code, out, err } = await tenantctl(...argv, "-o", "json");
  expect(code, err).toBe(0);
  return JSON.parse(out);
}

const newVpc = (name: string) => json("vpc", "create", "--name", name, "--ipv4-block", "10.0.0.0/8");
const ofVpc = ({ id }: { id: string }) => ({ event }: ReceivedEvent) => event.resource === `Vpc::"${id}"`;

function expectSigned({ headers, body }: ReceivedEvent): void {
  const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature } = headers;
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  expect(signature).toBe(`v1,${createHmac("sha256", key).update(`${id}.${at}.${body}`).digest("base64")}`);
}

test("an event of a project arrives with a signature that the shown secret verifies", async () => {
  const created = await json("webhook", "create", "--name", "chat", "--url", hook.url, "--event", "vpc_*");
  secret = created.secret;
  expectSigned(await hook.until(ofVpc(await newVpc("first"))));
  const { items: [delivery] } = await json("webhook", "deliveries", "chat");
  expect(delivery).toMatchObject({ type: "vpc_create", state: "delivered", attempts: 1, last_status: 204 });
}, 60_000);

test(
  "`webhook test` exits with 0 if the receiver accepts the event, and otherwise prints the receiver's status",
  async () => {
    expect((await tenantctl("webhook", "test", "chat")).code).toBe(0);
    hook.answer = () => 410;
    const { code, err } = await tenantctl("webhook", "test", "chat");
    expect([code, err]).toEqual([1, expect.stringContaining("the answer was 410")]);
    hook.answer = () => 204;
    const { items: [failed] } = await json("webhook", "deliveries", "chat", "--state", "dead");
    expect((await json("webhook", "redeliver", "chat", failed.id)).id).toBe(failed.id);
    await expect.poll(async () => (await json("webhook", "deliveries", "chat")).items[0].state, { timeout: MARGIN_MS })
      .toBe("delivered");
  },
  60_000,
);

test("if the server is killed before it sends an event, the next server sends the event", async () => {
  const { port } = new URL(hook.url);
  await hook.close();
  const vpc = await newVpc("killed-before");
  await server.kill();
  hook = await openReceiver(Number(port));
  server = await start();
  expectSigned(await hook.until(ofVpc(vpc), CLAIM_MS + MARGIN_MS));
}, 120_000);

test("if the server is killed while it sends an event, the event arrives once more, with the same id", async () => {
  hook.answer = () => "silence";
  const vpc = await newVpc("killed-during");
  const first = await hook.until(ofVpc(vpc));
  await server.kill();
  hook.answer = () => 204;
  server = await start();
  const again = await hook.until(
    (each) => each !== first && ofVpc(vpc)(each),
    CLAIM_MS + MARGIN_MS,
  );
  expect(again.event.id).toBe(first.event.id);
  expectSigned(again);
  await expect.poll(async () => (await json("webhook", "deliveries", "chat")).items[0].state, { timeout: MARGIN_MS })
    .toBe("delivered");
}, 120_000);
