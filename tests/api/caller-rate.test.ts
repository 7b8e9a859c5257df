// Tests the request rate of an authenticated caller. Additional keys do not raise the rate (docs/reliability.md, S-48).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { openTenant } from "../tenancy/tenant.ts";
import { addUser } from "./user.ts";

const REQUESTS = 100;
const WRITES = 60;
const NODES = 60;

/** A control plane whose rate limits these tests never reach. The tests create their objects with it. */
let t: TestControlPlane;
/** A control plane with low rate limits, on the same database. */
let limited: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
  limited = await openTestControlPlane({
    databaseUrl: t.databaseUrl,
    env: {
      BERTH_LIMITS_CALLER_REQUESTS_PER_MINUTE: String(REQUESTS),
      BERTH_LIMITS_CALLER_WRITES_PER_MINUTE: String(WRITES),
    },
  });
});
afterAll(async () => {
  await limited.close();
  await t.close();
});

const whoami = (key: string) => limited.call("GET", "/v1/auth/whoami", { key });

async function statuses(times: number, ask: () => Promise<{ status: number }>): Promise<Record<number, number>> {
  const all = await Promise.all(Array.from({ length: times }, ask));
  return all.reduce<Record<number, number>>((sum, { status }) => ({ ...sum, [status]: (sum[status] ?? 0) + 1 }), {});
}

/** Repeats a request until it is refused. On a slow machine, the rate may first allow a few more requests. */
async function refusalOf(key: string): Promise<Answer> {
  for (let tries = 0; tries < REQUESTS / 10; tries += 1) {
    const answer = await whoami(key);
    if (answer.status === 429) return answer;
  }
  throw new Error("no request was refused");
}

test("a caller above its rate gets 429 until Retry-After has passed; other callers are not refused", async () => {
  const [greedy, other] = [await addUser(t.db, "greedy"), await addUser(t.db, "other")];
  const answers = await statuses(3 * REQUESTS, () => whoami(greedy.key));
  expect(answers[200]).toBeGreaterThanOrEqual(REQUESTS);
  expect(answers[429]).toBeGreaterThan(REQUESTS);
  const refused = await refusalOf(greedy.key);
  expect(refused.body.error_code).toBe("TooManyRequests");
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  expect((await whoami(other.key)).status).toBe(200);
  expect((await limited.call("GET", "/v1/health", { key: null })).status).toBe(200);
  // Waits for the time in Retry-After.
  await new Promise((passed) => setTimeout(passed, 1_000 * Number(refused.headers.get("retry-after")) + 100));
  expect((await whoami(greedy.key)).status).toBe(200);
});

test("writes have a lower rate than reads, and a refused write has no effect", async () => {
  const tenant = await openTenant(t);
  const path = `/v1/tenants/${tenant.tenant_id}/projects`;
  const create = () => limited.call("POST", path, { key: tenant.key, body: { name: randomUUID() } });
  const answers = await statuses(WRITES + 20, create);
  expect(answers[201]).toBeGreaterThanOrEqual(WRITES);
  expect(answers[429]).toBeGreaterThan(0);
  const made = okOf(await t.call("GET", path));
  expect((Array.isArray(made) ? made : made.items).length).toBe(answers[201]! + 1);
  expect((await limited.call("GET", path, { key: tenant.key })).status).toBe(200);
});

test("all keys of a tenant count against the same rate limit", async () => {
  const tenant = await openTenant(t);
  const keys = [tenant.key];
  for (let n = 0; n < 4; n += 1) {
    const path = `/v1/tenants/${tenant.tenant_id}/api-keys`;
    keys.push(okOf(await t.call("POST", path, { body: { description: "more" } })).secret);
  }
  let n = 0;
  const answers = await statuses(2 * REQUESTS, () => whoami(keys[n++ % keys.length]!));
  expect(answers[200]).toBeLessThan(REQUESTS + 50);
  for (const key of keys) expect((await refusalOf(key)).status).toBe(429);
});

test("nodes behind one address have separate rates", async () => {
  const nodes = await Promise.all(Array.from({ length: NODES }, () => t.approvedNode()));
  const answers = await Promise.all(nodes.flatMap(({ api_key: key, server_uuid }) => [
    limited.call("POST", "/v1/agent/heartbeat", { key }),
    limited.call("POST", "/v1/agent/claim", { key, body: { claimed_by: server_uuid } }),
  ]));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
}, 60_000);

test("the rates are settings, and a running process applies a change", async () => {
  const own = await openTestControlPlane({ env: { BERTH_LIMITS_CALLER_REQUESTS_PER_MINUTE: undefined } });
  try {
    const user = await addUser(own.db, "user");
    const path = "/v1/config/limits.caller_requests_per_minute";
    expect((await own.call("PUT", path, { body: { value: 59 } })).status).toBe(400);
    okOf(await own.call("PUT", path, { body: { value: 60 } }));
    const ask = () => own.call("GET", "/v1/auth/whoami", { key: user.key });
    await expect.poll(async () => (await statuses(100, ask))[429] ?? 0, { timeout: 20_000, interval: 500 })
      .toBeGreaterThan(0);
  } finally {
    await own.close();
  }
}, 60_000);
