// A node's key is delivered only to the node's own agent (docs/nodes.md, "The claim-code path").
import { Buffer } from "node:buffer";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { REGISTER_STATUS_HOLD_MS } from "../../src/contract/limits.ts";
import { openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { dumpTables, tablesWith } from "../support/dump.ts";
import { watchHold } from "./open-polls.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
});
afterAll(() => t.close());
afterEach(() => vi.restoreAllMocks());

const status = (token: string, options = {}) =>
  t.call("GET", `/v1/agent/register/status?poll_token=${token}`, { key: null, ...options });
const use = (key: string) => t.call("POST", "/v1/agent/heartbeat", { key });
const NOTHING = {
  api_key: null,
  console_ticket_key_hex: null,
  imds_token_key_hex: null,
  migrate_ticket_key_hex: null,
};
const HEX_32 = expect.stringMatching(/^[0-9a-f]{64}$/);

const holds = () => watchHold(REGISTER_STATUS_HOLD_MS);

test("a status request with an unknown poll token gets 404, and a request without a token gets 400", async () => {
  expect(await status("0".repeat(32))).toMatchObject({ status: 404, body: { error_code: "NotFound" } });
  expect((await t.call("GET", "/v1/agent/register/status", { key: null })).status).toBe(400);
});

test("after approval the status contains the key and three ticket keys, whether the poll token is in the query or in a header", async () => {
  const { claim_code, poll_token } = await t.register();
  await t.approve(claim_code);
  const { body } = await status(poll_token);
  expect(body).toEqual({
    state: "approved",
    api_key: expect.stringMatching(/^opsk_[A-Za-z0-9_-]{12}_[A-Za-z0-9_-]{32}$/),
    console_ticket_key_hex: HEX_32,
    imds_token_key_hex: HEX_32,
    migrate_ticket_key_hex: HEX_32,
  });
  const keys = new Set([body.console_ticket_key_hex, body.imds_token_key_hex, body.migrate_ticket_key_hex]);
  expect(keys.size).toBe(3);
  const headers = { "x-poll-token": poll_token };
  expect((await t.call("GET", "/v1/agent/register/status", { key: null, headers })).body).toEqual(body);
});

test("S-14: an agent that lost the answer can get the key again until the first use of the key", async () => {
  const node = await t.approvedNode();
  const { body } = await status(node.poll_token);
  expect(body.api_key).toBe(node.api_key);
  expect((await use(node.api_key)).status).toBe(200);
  expect((await status(node.poll_token)).body).toEqual({ state: "approved", ...NOTHING });
  expect((await use(node.api_key)).status).toBe(200);
});

test("if a node is disabled before its agent fetches the key, the agent gets the state at once and no key", async () => {
  const node = await t.register();
  await t.approve(node.claim_code);
  await t.call("POST", `/v1/cns/${node.server_uuid}/disable`);
  expect((await status(node.poll_token)).body).toEqual({ state: "disabled", ...NOTHING });
});

test("a waiting agent is answered as soon as its node is approved", async () => {
  const { claim_code, poll_token } = await t.register();
  const begun = holds();
  let answered = false;
  const waiting = status(poll_token).finally(() => answered = true);
  await begun();
  expect(answered).toBe(false);
  await t.approve(claim_code);
  // The test never fires the poll's timer, so only the approval can end the poll.
  const { body } = await waiting;
  expect(body).toMatchObject({ state: "approved", api_key: expect.any(String) });
});

test("a waiting agent is answered when its node is disabled", async () => {
  const { server_uuid, poll_token } = await t.register();
  const begun = holds();
  const waiting = status(poll_token);
  await begun();
  await t.call("POST", `/v1/cns/${server_uuid}/disable`);
  expect((await waiting).body).toEqual({ state: "disabled", ...NOTHING });
});

test("when another claim is approved, the agent of the losing claim gets 404 and no key, even during its long poll", async () => {
  const other = await openTestControlPlane({ databaseUrl: t.databaseUrl });
  const { server_uuid, poll_token } = await other.register();
  const begun = holds();
  const waiting = other.call("GET", `/v1/agent/register/status?poll_token=${poll_token}`, { key: null });
  await begun();
  const fresh = await other.register({ server_uuid });
  await other.approve(fresh.claim_code);
  expect((await status(fresh.poll_token)).body.api_key).toEqual(expect.any(String));
  // The approval of `fresh` ended the first claim of the node.
  expect((await waiting).status).toBe(404);
  expect((await status(poll_token)).status).toBe(404);
  await other.close();
});

test("a long poll ends when its agent disconnects", async () => {
  const other = await openTestControlPlane({ databaseUrl: t.databaseUrl });
  const { poll_token } = await other.register();
  const abort = new AbortController();
  const begun = holds();
  const waiting = other.call("GET", `/v1/agent/register/status?poll_token=${poll_token}`, {
    key: null,
    signal: abort.signal,
  });
  await begun();
  abort.abort();
  expect((await waiting).body.state).toBe("pending");
  await other.close();
});

test("a long poll without an event ends after exactly 30 s", async () => {
  const other = await openTestControlPlane({ databaseUrl: t.databaseUrl });
  const { poll_token } = await other.register();
  const begun = holds();
  let answered = false;
  const path = `/v1/agent/register/status?poll_token=${poll_token}`;
  const waiting = other.call("GET", path, { key: null }).finally(() => answered = true);
  const over = await begun();
  expect(answered).toBe(false);
  // Fires the timer of 30 s, and does not wait for it.
  over();
  expect((await waiting).body).toEqual({ state: "pending", ...NOTHING });
  await other.close();
});

test("S-09, S-14: the database never contains keys, ticket keys or poll tokens in clear text", async () => {
  const { claim_code, poll_token } = await t.register();
  await t.approve(claim_code);
  const { body } = await status(poll_token);
  const secrets = [
    poll_token,
    body.api_key.slice(-32),
    ...Object.values<string>(body).filter((v) => /^[0-9a-f]{64}$/.test(v)),
  ];
  expect(secrets).toHaveLength(5);
  const forms = secrets.flatMap((secret) => {
    const bytes = /^[0-9a-f]+$/.test(secret) ? Buffer.from(secret, "hex") : Buffer.from(secret, "base64url");
    return [
      secret,
      Buffer.from(secret).toString("hex"),
      // Inside a longer base64 text, the last characters of a secret also depend on the bytes after the secret. So the
      // search omits these characters.
      Buffer.from(secret).toString("base64").slice(0, 40),
      bytes.toString("hex"),
      bytes.toString("base64").replace(/=+$/, "").slice(0, -1),
      bytes.toString("base64url").slice(0, -1),
    ];
  });
  const { rows: [{ pending_credential }] } = await t.db.query(
    "select pending_credential from cn where pending_credential is not null order by approved_at desc limit 1",
  );
  const before = await dumpTables(t.db);
  expect(tablesWith(before, pending_credential)).toEqual(["cn"]);
  for (const form of forms) expect(tablesWith(before, form)).toEqual([]);

  expect((await use(body.api_key)).status).toBe(200);
  const after = await dumpTables(t.db);
  expect(tablesWith(after, pending_credential)).toEqual([]);
  for (const form of forms) expect(tablesWith(after, form)).toEqual([]);
});

test("the first use of a key erases the stored key before that request is answered", async () => {
  const node = await t.approvedNode();
  const [first] = await Promise.all([use(node.api_key), use(node.api_key), use(node.api_key)]);
  expect(first?.status).toBe(200);
  const { rows } = await t.db.query("select pending_credential from cn where server_uuid = $1", [node.server_uuid]);
  expect(rows).toEqual([{ pending_credential: null }]);
});
