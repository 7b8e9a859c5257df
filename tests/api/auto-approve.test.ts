// Tests the auto-approve window (docs/nodes.md, "The claim-code path").
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openTestControlPlane, ROOT_KEY, type TestControlPlane } from "../support/control-plane.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
});
afterAll(() => t.close());
afterEach(() => t.call("DELETE", "/v1/cn-auto-approve"));

const PATH = "/v1/cn-auto-approve";
const open = (body: unknown) => t.call("POST", PATH, { body });
const current = async () => (await t.call("GET", PATH)).body;

test("while no window is open, GET returns JSON null and DELETE gets 204", async () => {
  const answer = await t.call("GET", PATH);
  expect([answer.status, answer.text]).toEqual([200, "null"]);
  expect((await t.call("DELETE", PATH)).status).toBe(204);
  expect(await t.call("DELETE", PATH)).toMatchObject({ status: 204, text: "" });
});

test("a window shows when it was opened, when it expires, its remaining count and the user who opened it", async () => {
  const { user_id } = (await t.call("GET", "/v1/auth/whoami")).body;
  const { status, body } = await open({ duration_secs: 600, count: 3 });
  expect(status).toBe(200);
  expect(body).toEqual({
    opened_at: expect.any(String),
    expires_at: expect.any(String),
    remaining_count: 3,
    opened_by: user_id,
  });
  expect(Date.parse(body.expires_at) - Date.parse(body.opened_at)).toBe(600_000);
  expect(await current()).toEqual(body);
});

test("new nodes are approved without a code until the count is used up; the next node is pending", async () => {
  await open({ duration_secs: 600, count: 2 });
  const first = await t.register();
  expect(first).toMatchObject({ state: "approved", claim_code: null, claim_code_expires_at: null });
  expect((await current()).remaining_count).toBe(1);
  expect((await t.register()).state).toBe("approved");
  expect(await current()).toBeNull();
  expect((await t.register()).state).toBe("pending");
  const status = await t.call("GET", `/v1/agent/register/status?poll_token=${first.poll_token}`, { key: null });
  expect((await t.call("POST", "/v1/agent/heartbeat", { key: status.body.api_key })).status).toBe(200);
});

test("a window without a count approves any number of nodes", async () => {
  expect((await open({ duration_secs: 600 })).body.remaining_count).toBeNull();
  for (let node = 1; node <= 5; node++) expect((await t.register()).state).toBe("approved");
  expect((await current()).remaining_count).toBeNull();
});

test("a node that registered before the window was opened is not approved, and uses up no approval", async () => {
  const pending = await t.register();
  const disabled = await t.register();
  await t.call("POST", `/v1/cns/${disabled.server_uuid}/disable`);
  await open({ duration_secs: 600, count: 1 });
  expect((await t.register({ server_uuid: pending.server_uuid })).state).toBe("pending");
  expect((await t.register({ server_uuid: disabled.server_uuid })).state).toBe("pending");
  expect((await current()).remaining_count).toBe(1);
});

test("a window approves no node from its expiry on", async () => {
  await open({ duration_secs: 3_600, count: 5 });
  await t.advance(3_590);
  expect((await t.register()).state).toBe("approved");
  await t.advance(10);
  expect(await current()).toBeNull();
  expect((await t.register()).state).toBe("pending");
});

test("a new window replaces the previous window and its count", async () => {
  await open({ duration_secs: 600, count: 100 });
  await open({ duration_secs: 60, count: 1 });
  expect((await current()).remaining_count).toBe(1);
  expect((await t.register()).state).toBe("approved");
  expect((await t.register()).state).toBe("pending");
});

test("a closed window approves no node", async () => {
  await open({ duration_secs: 600 });
  await t.call("DELETE", PATH);
  expect((await t.register()).state).toBe("pending");
});

test("a duration above one day is reduced to one day, and the audit event has the requested and the effective duration", async () => {
  const { body } = await open({ duration_secs: 1_000_000, count: 1 });
  expect(Date.parse(body.expires_at) - Date.parse(body.opened_at)).toBe(86_400_000);
  const { events } = (await t.call("GET", "/v1/audit/events?limit=1000")).body;
  // The newest event may have another action, because claims of earlier tests can expire at any time.
  expect(events.findLast(({ action }: { action: string }) => action === "auto_approve_set")).toMatchObject({
    action: "auto_approve_set",
    payload: { requested_duration_secs: 1_000_000, effective_duration_secs: 86_400, count: 1 },
  });
});

describe("a window with an invalid duration or count is refused", () => {
  test.each([
    { duration_secs: 0 },
    { duration_secs: -1 },
    { duration_secs: 1.5 },
    { duration_secs: "60" },
    { duration_secs: 60, count: 0 },
    { duration_secs: 60, count: -1 },
    { count: 1 },
    {},
  ])("%j", async (body) => {
    expect((await open(body)).status).toBe(400);
    expect(await current()).toBeNull();
  });
});

test("a null count is the same as a missing count", async () => {
  expect(await open({ duration_secs: 60, count: null })).toMatchObject({
    status: 200,
    body: { remaining_count: null },
  });
});

test("a window with count 10 approves exactly 10 of 100 nodes that register concurrently", async () => {
  await open({ duration_secs: 600, count: 10 });
  const other = await openTestControlPlane({ databaseUrl: t.databaseUrl });
  const nodes = await Promise.all(Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? t : other).register()));
  expect(nodes.filter(({ state }) => state === "approved")).toHaveLength(10);
  expect(await current()).toBeNull();
  await other.close();
});

test("a node that registers twice concurrently uses up one approval", async () => {
  await open({ duration_secs: 600, count: 2 });
  const server_uuid = randomUUID();
  const twice = await Promise.all([t.register({ server_uuid }), t.register({ server_uuid })]);
  // The window approves only new nodes. The second registration is of a known node, so it only creates a claim.
  expect(twice.map(({ state }) => state).sort()).toEqual(["approved", "pending"]);
  expect((await current()).remaining_count).toBe(1);
  const { rows } = await t.db.query("select from api_key where bound_to_cn = $1", [server_uuid]);
  expect(rows).toHaveLength(1);
});

test("the key of an auto-approved node belongs to the root operator", async () => {
  await open({ duration_secs: 600, count: 1 });
  const { server_uuid } = await t.register();
  const { user_id } = (await t.call("GET", "/v1/auth/whoami", { key: ROOT_KEY })).body;
  const { rows } = await t.db.query("select user_id from api_key where bound_to_cn = $1", [server_uuid]);
  expect(rows).toEqual([{ user_id }]);
});
