// Tests that a credential that was deleted, logged out or expired is invalid in every process at once, even for long
// polls that are waiting. The tests have a thousand requests in flight at three servers that share a database.
// docs/reliability.md S-11.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ComputeFixture, openComputeFixture } from "../compute/compute-fixture.ts";
import { type Answer, okOf, openTestControlPlane, ROOT_KEY, type TestControlPlane } from "../support/control-plane.ts";
import { type ServerProcess, startServer } from "../support/server-process.ts";

const SERVERS = 3;
/** Requests in flight at each server: ASKING are repeated until the end of the test, HELD are long polls. */
const ASKING = 234;
const HELD = 100;
const PASSWORD = "a long enough password";
/** The length of a long poll in seconds; longer than the deletion takes. */
const HOLD_S = 15;

/** A control plane that prepares the objects and acts as the node. The tested requests go to `servers`. */
let t: TestControlPlane;
let fixture: ComputeFixture;
let servers: ServerProcess[];
/** The answer to a long poll whose node was removed while it waited. */
let heldPoll: Promise<Answer>;

beforeAll(async () => {
  t = await openTestControlPlane();
  heldPoll = (await pollRemoved()).answer;
  fixture = await openComputeFixture({ t });
  const env = { DATABASE_URL: t.databaseUrl, BERTH_ROOT_KEY: ROOT_KEY, BERTH_LOGIN_PER_MINUTE: "1000000" };
  servers = await Promise.all(Array.from({ length: SERVERS }, () => startServer({ env })));
}, 120_000);
afterAll(async () => {
  await Promise.all((servers ?? []).map((server) => server.kill()));
  await t?.close();
});

/** Starts a node's long poll and removes the node meanwhile. Does not wait for the answer. */
async function pollRemoved(): Promise<{ readonly answer: Promise<Answer> }> {
  const { server_uuid, poll_token } = await t.register();
  const answer = t.call("GET", `/v1/agent/register/status?poll_token=${poll_token}`, { key: null });
  await pause(1_000);
  okOf(await t.call("DELETE", `/v1/cns/${server_uuid}`));
  return { answer };
}

type Sent = { readonly sent_ms: number; readonly ended_ms: number; readonly status: number; readonly text: string };

async function send(url: string, key: string, { method = "GET", path, body }: Ask): Promise<Sent> {
  const sent_ms = performance.now();
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { "content-type": "application/json" }) },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await response.text();
  return { sent_ms, ended_ms: performance.now(), status: response.status, text };
}

type Ask = { readonly method?: string; readonly path: string; readonly body?: unknown };
type Credential = {
  readonly key: string;
  /** A request whose answer needs the credential. */
  readonly ask: Ask;
  readonly held: Ask;
  /** Ends the credential, through one of the servers or in the database. */
  readonly end: () => Promise<Response>;
  /** Causes the event that the long polls wait for. */
  readonly wake: () => Promise<unknown>;
};

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));
const onServer = (method: string, path: string, key = ROOT_KEY) =>
  fetch(servers[0]!.url + path, { method, headers: { authorization: `Bearer ${key}` } });

/** Starts an operation of the tenant that runs until the node completes its job. */
async function runningOperation(): Promise<{ path: string; finish: () => Promise<unknown> }> {
  const created = await fixture.create({}, { headers: { prefer: "respond-async" } });
  expect(created.status).toBe(202);
  return { path: `/v1/operations/${created.body.id}`, finish: () => fixture.node.does("provision") };
}

const credentials: Readonly<Record<string, () => Promise<Credential>>> = {
  "a deleted API key of a tenant": async () => {
    const path = `/v1/tenants/${fixture.tenant.tenant_id}/api-keys`;
    const made = okOf(await t.call("POST", path, { body: { description: "d" } }));
    const { path: operation, finish } = await runningOperation();
    return {
      key: made.secret,
      ask: { path: "/v1/auth/whoami" },
      held: { path: `${operation}?wait=${HOLD_S}` },
      end: () => onServer("DELETE", `${path}/${made.id}`),
      wake: finish,
    };
  },
  "a session after logout": async () => {
    const body = { username: `user-${crypto.randomUUID()}`, password: PASSWORD, tenant_id: fixture.tenant.tenant_id };
    okOf(await t.call("POST", "/v1/system/users", { body }));
    const { access_token } = okOf(
      await t.call("POST", "/v1/auth/login", { key: null, body: { ...body, tenant_id: undefined } }),
    );
    const { path: operation, finish } = await runningOperation();
    return {
      key: access_token,
      ask: { path: "/v1/auth/whoami" },
      held: { path: `${operation}?wait=${HOLD_S}` },
      end: () => onServer("POST", "/v1/auth/logout", access_token),
      wake: finish,
    };
  },
  "an expired key of a node": async () => {
    const { server_uuid, api_key } = await t.approvedNode();
    okOf(await t.call("POST", "/v1/agent/heartbeat", { key: api_key }));
    return {
      key: api_key,
      ask: { path: "/v1/agent/config" },
      held: { method: "POST", path: "/v1/agent/claim", body: { claimed_by: server_uuid, wait: HOLD_S } },
      end: async () => {
        // Every way to revoke a node's key also wakes the node's long polls. Here, the long polls must run until their
        // limit.
        await t.db.query("update api_key set expires_at = berth_now() where bound_to_cn = $1", [server_uuid]);
        return new Response(null, { status: 204 });
      },
      wake: () => Promise.resolve(),
    };
  },
};

describe("S-11: a thousand requests in flight at three servers", () => {
  test.each(Object.keys(credentials))(
    "%s is refused in every later request and in every long poll",
    async (of) => {
      const { key, ask, held, end, wake } = await credentials[of]!();
      const answers: Sent[] = [];
      let over = false;
      const asking = servers.flatMap(({ url }) =>
        Array.from({ length: ASKING }, async () => {
          while (!over) answers.push(await send(url, key, ask));
        })
      );
      const holding = servers.flatMap(({ url }) => Array.from({ length: HELD }, () => send(url, key, held)));
      await pause(3_000);
      const ended = await end();
      expect([200, 204]).toContain(ended.status);
      const ended_ms = performance.now();
      await pause(1_000);
      over = true;
      await Promise.all(asking);
      await wake();
      const heldAnswers = await Promise.all(holding);

      expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
      expect(answers.filter(({ sent_ms }) => sent_ms > ended_ms).length).toBeGreaterThan(0);
      // 503: the database is busy with a thousand requests.
      expect(answers.filter(({ sent_ms, status }) => sent_ms > ended_ms && ![401, 503].includes(status))).toEqual([]);
      expect(heldAnswers.filter((each) => each.ended_ms < ended_ms && each.status < 300)).toEqual([]);
      expect(heldAnswers.filter(({ status }) => ![401, 503].includes(status))).toEqual([]);
      expect(heldAnswers.filter(({ status }) => status === 401).length).toBeGreaterThan(HELD);
    },
    120_000,
  );
});

test("S-11: a poll token that ends during its long poll is answered like an unknown token", async () => {
  expect((await heldPoll).status).toBe(404);
}, 60_000);
