// The server checks the rate limit of approvals before it checks the credential, the permissions and the code. In
// another order, the answers could help to guess a code (docs/reliability.md, S-07).
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane({ env: { BERTH_APPROVE_PER_MINUTE: "" } });
  // The database's time advances only when a test moves the dev clock. So on a slow machine, the token bucket of an
  // address gets no token back before a test expects it.
  await t.db.query(
    `create or replace function berth_now() returns timestamptz language sql volatile parallel safe as
       $$ select timestamptz '${new Date().toISOString()}' + ahead from lab_clock $$`,
  );
});
afterAll(() => t.close());
afterEach(() => t.db.query("delete from rate_bucket"));

const from = (address: string) => ({ address });

async function drain(address: string): Promise<void> {
  for (let attempt = 1; attempt <= 10; attempt++) {
    expect((await t.approve("000000", from(address))).status).toBe(404);
  }
}

test("the eleventh approval attempt within a minute gets 429 with a Retry-After of 1 to 6 seconds", async () => {
  await drain("198.51.100.1");
  const answer = await t.approve("000000", from("198.51.100.1"));
  expect(answer.status).toBe(429);
  expect(answer.body.error_code).toBe("TooManyRequests");
  expect(answer.headers.get("retry-after")).toMatch(/^[1-6]$/);
});

test("S-07: while the bucket is empty, a valid code with a valid key gets 429, too, and the code stays valid", async () => {
  const { claim_code } = await t.register();
  await drain("198.51.100.2");
  expect((await t.approve(claim_code, from("198.51.100.2"))).status).toBe(429);
  expect((await t.approve(claim_code, from("198.51.100.3"))).status).toBe(200);
});

test("S-07: while the bucket is empty, the answer reveals nothing about the credential, the permissions or the code", async () => {
  const readOnly = (await t.mintKey("read_only")).secret;
  await drain("198.51.100.4");
  const at = from("198.51.100.4");
  expect((await t.approve("000000", { ...at, key: null })).status).toBe(429);
  expect((await t.approve("000000", { ...at, key: "garbage" })).status).toBe(429);
  expect((await t.approve("000000", { ...at, key: readOnly })).status).toBe(429);
  expect((await t.approve("OOO", at)).status).toBe(429);
});

test("S-07: attempts without a credential and attempts with a malformed code take tokens, too", async () => {
  const at = from("198.51.100.5");
  for (let attempt = 1; attempt <= 5; attempt++) {
    expect((await t.approve("000000", { ...at, key: null })).status).toBe(401);
    expect((await t.approve("O", at)).status).toBe(400);
  }
  expect((await t.approve("000000", at)).status).toBe(429);
});

test("while the bucket has tokens, the checks run in this order: credential, permissions, form of the code, lookup", async () => {
  const at = from("198.51.100.6");
  const readOnly = (await t.mintKey("read_only")).secret;
  expect((await t.approve("O", { ...at, key: null })).status).toBe(401);
  expect((await t.approve("O", { ...at, key: readOnly })).status).toBe(403);
  expect((await t.approve("O", at)).status).toBe(400);
  expect((await t.approve("000000", at)).status).toBe(404);
});

test("a malformed request is refused before the limit is checked, and takes no token", async () => {
  const at = from("198.51.100.7");
  for (let attempt = 1; attempt <= 20; attempt++) {
    expect((await t.call("POST", "/v1/cn-approvals", { ...at, text: "{" })).status).toBe(400);
  }
  expect((await t.approve("000000", at)).status).toBe(404);
});

test("the bucket gets one token back every six seconds", async () => {
  await drain("198.51.100.8");
  await t.advance(5.999);
  expect((await t.approve("000000", from("198.51.100.8"))).status).toBe(429);
  await t.advance(0.001);
  expect((await t.approve("000000", from("198.51.100.8"))).status).toBe(404);
  expect((await t.approve("000000", from("198.51.100.8"))).status).toBe(429);
});

test("addresses have separate buckets, except within an IPv6 /64", async () => {
  await drain("2001:db8:0:1::1");
  expect((await t.approve("000000", from("2001:db8:0:1::ffff"))).status).toBe(429);
  expect((await t.approve("000000", from("2001:db8:0:2::1"))).status).toBe(404);
});

test("X-Forwarded-For is ignored from callers that are not trusted proxies", async () => {
  await drain("198.51.100.9");
  const spoofed = { address: "198.51.100.9", headers: { "x-forwarded-for": "203.0.113.77" } };
  expect((await t.approve("000000", spoofed)).status).toBe(429);
});

test("S-07: two control planes on one database share the bucket", async () => {
  const other = await openTestControlPlane({ databaseUrl: t.databaseUrl, env: { BERTH_APPROVE_PER_MINUTE: "10" } });
  await drain("198.51.100.11");
  expect((await other.approve("000000", from("198.51.100.11"))).status).toBe(429);
  await other.close();
});

test("S-07: after 300 failed approvals in an hour, from any addresses, a valid code gets 429 with a Retry-After of more than a minute", async () => {
  await t.db.query(
    `insert into failure_count values ('cn-approval', date_trunc('minute', berth_now()), 300)
     on conflict (subject, minute) do update set failures = 300`,
  );
  const { claim_code } = await t.register();
  const answer = await t.approve(claim_code, from("198.51.100.12"));
  expect(answer.status).toBe(429);
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(60);
  await t.db.query("delete from failure_count");
  expect((await t.approve(claim_code, from("198.51.100.12"))).status).toBe(200);
});
