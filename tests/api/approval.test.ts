// Tests the approval of nodes by claim code (docs/nodes.md, "The claim-code path").
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
});
afterAll(() => t.close());

const REQUEST_ID = "7f1c2a34-5b6d-4e8f-9a0b-1c2d3e4f5a6b";
const sameId = { headers: { "x-request-id": REQUEST_ID } };
/** Returns the status, headers and text of an answer, to compare it with another answer. */
const seen = ({ status, headers, text }: Answer) => ({ status, text, headers: [...headers].sort() });

test("approval returns the node with the id of its key, without the key, and sets approved_at", async () => {
  const { server_uuid, claim_code } = await t.register();
  const answer = await t.approve(claim_code);
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({
    server_uuid,
    state: "approved",
    approved_at: expect.any(String),
    bound_api_key_id: expect.any(String),
    claim_code: null,
    claim_code_expires_at: null,
  });
  expect(answer.text).not.toContain("opsk_");
  const { rows } = await t.db.query(
    "select scope, bound_to_cn, description, username from api_key join user_account u on u.id = user_id where api_key.id = $1",
    [answer.body.bound_api_key_id],
  );
  expect(rows).toEqual([{
    scope: "agent",
    bound_to_cn: server_uuid,
    description: `agent: cn ${server_uuid}`,
    username: "root",
  }]);
});

describe("a code is accepted", () => {
  test.each([
    ["as it is shown", (code: string) => code],
    ["without its hyphen", (code: string) => code.replace("-", "")],
    ["in lower case", (code: string) => code.toLowerCase()],
    ["with spaces and hyphens anywhere", (code: string) => ` ${code.replace("-", "").split("").join(" - ")}\t`],
  ])("%s", async (_how, spell) => {
    const { claim_code } = await t.register();
    expect((await t.approve(spell(claim_code))).status).toBe(200);
  });
});

describe("a malformed code gets 400 with the specified text", () => {
  test.each(["ABCDE", "ABCDEFG", "", "ABC-DEO", "ABC-DEI", "ABC-DEL", "ABC-DEU", "ABC_DEF", "ÀBCDEF", "ABCDE１"])(
    "%j",
    async (code) => {
      const answer = await t.approve(code);
      expect(answer.status).toBe(400);
      expect(answer.body.message).toBe("claim code must be 6 chars of Crockford base32 (XXX-XXX accepted)");
    },
  );
});

test("S-08: an unknown, used or expired code and the code of a disabled node get the same 404 with the same headers", async () => {
  const used = await t.register();
  await t.approve(used.claim_code);
  const disabled = await t.register();
  await t.call("POST", `/v1/cns/${disabled.server_uuid}/disable`);
  const expired = await t.register();
  await t.advance(3_600);
  const unknown = seen(await t.approve("000000", sameId));
  expect(unknown.status).toBe(404);
  expect(JSON.parse(unknown.text)).toEqual({
    message:
      "no node is waiting with this claim code; check for a typo, or register the node again: codes expire after " +
      "an hour",
    request_id: REQUEST_ID,
    error_code: "NotFound",
  });
  for (const { claim_code } of [used, disabled, expired]) {
    expect(seen(await t.approve(claim_code, sameId))).toEqual(unknown);
  }
});

test("a node whose only claim code expired is deleted, and a registration creates it again with a new code", async () => {
  const node = await t.register();
  await t.advance(3_600);
  const shown = () => t.call("GET", `/v1/system/cns/${node.server_uuid}`);
  await expect.poll(async () => (await shown()).status).toBe(404);
  const again = await t.register({ server_uuid: node.server_uuid });
  expect((await t.approve(again.claim_code)).status).toBe(200);
});

test("exactly one of many concurrent approvals of one code succeeds, and one key is created", async () => {
  const { server_uuid, claim_code } = await t.register();
  const answers = await Promise.all(Array.from({ length: 10 }, () => t.approve(claim_code)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(404)]);
  const { rows } = await t.db.query("select from api_key where bound_to_cn = $1", [server_uuid]);
  expect(rows).toHaveLength(1);
});

test("an approval that is repeated with its Idempotency-Key gets the same answer", async () => {
  const { claim_code } = await t.register();
  const headers = { "idempotency-key": "approve-1" };
  const first = await t.approve(claim_code, { headers });
  const second = await t.approve(claim_code, { headers });
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(second.body).toEqual(first.body);
});

test("approval creates one node-join operation that refers to the node", async () => {
  const { server_uuid, claim_code } = await t.register();
  await t.approve(claim_code);
  const { body } = await t.call("GET", `/v1/operations?resource_scope=cn&resource_id=${server_uuid}`);
  expect(body).toHaveLength(1);
  expect(body[0]).toMatchObject({ kind: "node-join", references: [{ scope: "cn", id: server_uuid }] });
});

test("the audit chain contains only the first three characters of a refused code", async () => {
  await t.approve("9Z8Y7X");
  const { body } = await t.call("GET", "/v1/audit/events?limit=1000");
  const events = body.events.filter((event: { payload: { code_prefix?: string } }) =>
    event.payload.code_prefix === "9Z8"
  );
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({ action: "cn_approve", decision: "deny", outcome: { kind: "client_error" } });
  expect(JSON.stringify(body)).not.toContain("9Z8Y7X");
});
