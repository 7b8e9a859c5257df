// While the database does not answer in time, routes that need the database get 503 and never 500. The server recovers
// when the database answers again (docs/reliability.md, S-18).
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { type OwnCluster, ownCluster } from "../support/cluster.ts";

let cluster: OwnCluster;
let t: TestControlPlane;
beforeAll(async () => {
  cluster = await ownCluster({ fsync: "off" });
  t = await openTestControlPlane({ databaseUrl: cluster.url });
});
afterAll(async () => {
  await t.close();
  await cluster.remove();
});

test("S-18: while the database is down, routes that need it get 503 with Retry-After, and health gets 200; after the restart these routes get 200 again", async () => {
  const node = await t.approvedNode();
  const requests: [string, string, unknown?][] = [
    ["GET", "/readyz"],
    ["GET", "/v1/system/cns"],
    ["GET", "/v1/config"],
    ["GET", "/v1/audit/events"],
    ["GET", "/v1/operations"],
    ["POST", `/v1/cns/${node.server_uuid}/role`, { role: "edge" }],
    ["POST", "/v1/agent/register", { server_uuid: node.server_uuid, hostname: "n", sysinfo: {} }],
    ["POST", "/v1/cn-approvals", { code: "000000" }],
    ["POST", "/v1/auth/api-keys", { description: "d" }],
    ["POST", "/v1/agent/heartbeat"],
  ];
  await cluster.kill("SIGQUIT");
  const answers = await Promise.all(requests.map(async ([method, path, body]) => {
    const answer = await t.call(method, path, { body, key: path.startsWith("/v1/agent/h") ? node.api_key : undefined });
    return { path, status: answer.status, retry: answer.headers.get("retry-after"), text: answer.text };
  }));
  const health = await t.call("GET", "/v1/health", { key: null });
  await cluster.restart();
  expect(health.status).toBe(200);
  for (const { path, status, retry, text } of answers) {
    expect([path, status]).toEqual([path, 503]);
    expect(Number(retry)).toBeGreaterThanOrEqual(1);
    expect(text).not.toMatch(/postgres|ECONN|127\.0\.0\.1|\.ts|select|insert/i);
  }
  await expect.poll(async () => (await t.call("GET", "/readyz", { key: null })).status, { timeout: 20_000 }).toBe(200);
  const role = await t.call("POST", `/v1/cns/${node.server_uuid}/role`, { body: { role: "both" } });
  expect(role).toMatchObject({ status: 200, body: { role: "both" } });
  expect((await t.call("POST", "/v1/agent/heartbeat", { key: node.api_key })).status).toBe(200);
});

test("each change that is in progress when the database is killed gets 200 and is stored once, or gets 503 and is stored at most once", async () => {
  const nodes = await Promise.all(Array.from({ length: 20 }, () => t.register()));
  const changes = nodes.map(({ server_uuid }) =>
    t.call("POST", `/v1/cns/${server_uuid}/role`, { body: { role: "edge" } })
  );
  await cluster.kill("SIGQUIT");
  await cluster.restart();
  const answers = await Promise.all(changes);
  for (const [index, { status }] of answers.entries()) {
    expect([200, 503]).toContain(status);
    const node = nodes[index]?.server_uuid ?? "";
    const { rows } = await t.db.query("select from transition where actor_id = $1 and event = 'set_role'", [node]);
    if (status === 200) expect(rows).toHaveLength(1);
    else expect(rows.length).toBeLessThanOrEqual(1);
  }
});

test.each([
  { what: "takes longer than the database's time limit", does: "perform pg_sleep(60)", name: "slow" },
  { what: "waits too long for a lock", does: "raise lock_not_available", name: "locked" },
])("a request whose statement $what gets 503 and has no effect", async ({ does, name }) => {
  await t.db.query(
    `create function slow() returns trigger language plpgsql as $$ begin ${does}; return new; end $$;
     create trigger slow before insert on idempotency for each row execute function slow()`,
  );
  const create = () => t.call("POST", "/v1/silos", { body: { name }, headers: { "idempotency-key": `${name}-silo` } });
  const { status, headers } = await create();
  await t.db.query("drop function slow cascade");
  expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
  expect((await create()).status).toBe(201);
});
