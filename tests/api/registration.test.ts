// Tests the registration of a node, for each state of the node's record (docs/nodes.md, "The claim-code path").
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { bareMachine } from "./bare-machine.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
});
afterAll(() => t.close());

const show = async (server_uuid: string) => (await t.call("GET", `/v1/system/cns/${server_uuid}`)).body;
const post = (body: unknown) => t.call("POST", "/v1/agent/register", { key: null, body });
const poll = (token: string) => t.call("GET", `/v1/agent/register/status?poll_token=${token}`, { key: null });

test("a new node is pending, has the role tenant, and gets a claim code and a poll token", async () => {
  const server_uuid = randomUUID();
  const answer = await post({ server_uuid, hostname: "cn-1", admin_ip: "10.0.0.7", sysinfo: { ram: 1 } });
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    server_uuid,
    state: "pending",
    claim_code: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{3}-[0-9A-HJKMNP-TV-Z]{3}$/),
    claim_code_expires_at: expect.any(String),
    poll_token: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
  expect(await show(server_uuid)).toMatchObject({
    server_uuid,
    hostname: "cn-1",
    admin_ip: "10.0.0.7",
    state: "pending",
    role: "tenant",
    registered_at: expect.any(String),
    approved_at: null,
    last_seen: null,
    sysinfo: { ram: 1 },
    claim_code: answer.body.claim_code,
    claim_code_expires_at: answer.body.claim_code_expires_at,
    bound_api_key_id: null,
    last_status: null,
    agent_version: null,
    last_setup_error: null,
    setup_progress: null,
    disk_layout: null,
  });
});

test("a claim code expires after one hour", async () => {
  const { server_uuid, claim_code_expires_at } = await t.register();
  const { registered_at } = await show(server_uuid);
  expect(Date.parse(claim_code_expires_at) - Date.parse(registered_at)).toBe(3_600_000);
});

const again = (token: string, fields: { server_uuid: string } & Record<string, unknown>) =>
  t.call("POST", "/v1/agent/register", {
    key: null,
    headers: { "x-poll-token": token },
    body: { hostname: "node-1", sysinfo: {}, ...fields },
  });

test("a pending node that registers again with its poll token gets a new code and token, and keeps its role", async () => {
  const first = await t.register();
  await t.call("POST", `/v1/cns/${first.server_uuid}/role`, { body: { role: "both" } });
  const before = await show(first.server_uuid);
  const second = (await again(first.poll_token, { server_uuid: first.server_uuid, hostname: "renamed" })).body;
  expect(second.claim_code).not.toBe(first.claim_code);
  expect(second.poll_token).not.toBe(first.poll_token);
  expect(await show(first.server_uuid)).toMatchObject({
    state: "pending",
    role: "both",
    // The record keeps its original hostname; the claim has the new hostname.
    hostname: before.hostname,
    claims: [{ hostname: "renamed", claim_code: second.claim_code }],
    registered_at: before.registered_at,
  });
  expect((await poll(first.poll_token)).status).toBe(404);
  expect((await t.approve(first.claim_code)).status).toBe(404);
});

test("if an approved node registers with its poll token, its record is updated, and it gets no new token, code or key", async () => {
  const node = await t.approvedNode();
  expect((await t.call("POST", "/v1/agent/heartbeat", { key: node.api_key })).status).toBe(200);
  const before = await show(node.server_uuid);
  await t.advance(1);
  const fields = { hostname: "moved", admin_ip: "10.9.9.9", sysinfo: { ram: 2 } };
  const { body } = await again(node.poll_token, { server_uuid: node.server_uuid, ...fields });
  expect(body).toMatchObject({
    state: "approved",
    claim_code: null,
    claim_code_expires_at: null,
    poll_token: node.poll_token,
  });
  const after = await show(node.server_uuid);
  expect(after).toMatchObject({ ...fields, state: "approved" });
  expect(after.bound_api_key_id).toBe(before.bound_api_key_id);
  expect(Date.parse(after.last_seen)).toBeGreaterThan(Date.parse(before.last_seen));
  expect((await poll(node.poll_token)).body.api_key).toBeNull();
});

test("a disabled node that registers again is pending and keeps its key until its approval; the approval clears last_status", async () => {
  const node = await t.approvedNode();
  await t.call("POST", "/v1/agent/status", { key: node.api_key, body: { payload: { old: 1 } } });
  await t.call("POST", `/v1/cns/${node.server_uuid}/disable`);
  const back = await t.register({ server_uuid: node.server_uuid });
  expect(back).toMatchObject({ state: "pending", claim_code: expect.any(String) });
  expect(await show(node.server_uuid)).toMatchObject({ state: "pending", last_status: { old: 1 } });
  expect((await t.call("POST", "/v1/agent/heartbeat", { key: node.api_key })).status).toBe(200);
  expect((await t.approve(back.claim_code)).body).toMatchObject({ last_status: null, last_seen: null });
  expect((await t.call("POST", "/v1/agent/heartbeat", { key: node.api_key })).status).toBe(401);
});

test.each(["awaiting_setup", "setting_up"] as const)(
  "a registration of a node in %s creates a claim and does not change the node's sysinfo",
  async (state) => {
    const server_uuid = await bareMachine(t, state);
    const before = await show(server_uuid);
    const { claim_code } = await t.register({ server_uuid, sysinfo: { ram: 3 } });
    expect(await show(server_uuid)).toMatchObject({ state, sysinfo: before.sysinfo, claims: [{ claim_code }] });
  },
);

test("the same UUID in lower and upper case is one node", async () => {
  const server_uuid = randomUUID();
  await t.register({ server_uuid });
  await t.register({ server_uuid: server_uuid.toUpperCase() });
  const { rows } = await t.db.query("select from cn where server_uuid = $1", [server_uuid]);
  expect(rows).toHaveLength(1);
});

test("unknown fields of a registration are ignored", async () => {
  const { server_uuid } = await t.register({ state: "approved", role: "both", bound_api_key_id: randomUUID(), new: 1 });
  expect(await show(server_uuid)).toMatchObject({ state: "pending", role: "tenant", bound_api_key_id: null });
});

describe("a registration is refused with 400", () => {
  const sound = { server_uuid: randomUUID(), hostname: "n", sysinfo: {} };
  const spki = "ab".repeat(32);
  test.each([
    ["with the nil UUID", { ...sound, server_uuid: "00000000-0000-0000-0000-000000000000" }, "server_uuid"],
    ["with the all-ones UUID", { ...sound, server_uuid: "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF" }, "server_uuid"],
    ["with a console port but no console key hash", { ...sound, console_listen_port: 9_101 }, "console"],
    ["with a console key hash but no console port", { ...sound, console_tls_spki_sha256_hex: spki }, "console"],
    ["without a hostname", { server_uuid: sound.server_uuid, sysinfo: {} }, "hostname"],
    ["with a hostname of 64 characters", { ...sound, hostname: "a".repeat(64) }, "hostname"],
    ["with a hostname that ends in a hyphen", { ...sound, hostname: "a-" }, "hostname"],
    ["without sysinfo", { server_uuid: sound.server_uuid, hostname: "n" }, "sysinfo"],
    ["with an IPv6 admin address", { ...sound, admin_ip: "::1" }, "admin_ip"],
  ])("%s", async (_what, body, field) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(field);
  });
});

test("a registration with the port and the certificate digest of a console, and a hostname of 63 characters, is accepted", async () => {
  const fields = { hostname: "a".repeat(63), console_listen_port: 9_101, console_tls_spki_sha256_hex: "AB".repeat(32) };
  const { server_uuid } = await t.register(fields);
  const { rows } = await t.db.query(
    "select console_listen_port, console_tls_spki_sha256_hex from cn where server_uuid = $1",
    [server_uuid],
  );
  expect(rows).toEqual([{ console_listen_port: 9_101, console_tls_spki_sha256_hex: "ab".repeat(32) }]);
});

test("concurrent registrations of one node create separate claims, and only one of them can be approved", async () => {
  const server_uuid = randomUUID();
  const answers = await Promise.all(Array.from({ length: 4 }, () => t.register({ server_uuid })));
  const { claim_code, claims } = await show(server_uuid);
  expect(claims.map((claim: { claim_code: string }) => claim.claim_code).sort()).toEqual(
    answers.map((answer) => answer.claim_code).sort(),
  );
  expect(answers.filter((answer) => answer.claim_code === claim_code)).toHaveLength(1);
  const approvals = await Promise.all(answers.map((answer) => t.approve(answer.claim_code)));
  // Approving one claim ends the other claims, so the other approvals fail.
  expect(approvals.filter(({ status }) => status === 200)).toHaveLength(1);
});
