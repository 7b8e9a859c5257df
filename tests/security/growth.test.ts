// No caller can create unlimited rows or bytes. The tests send each refused or repeated request 2,000 times, then
// measure every table of the database. Rate limits bound requests that each leave a row. docs/reliability.md S-49.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SESSIONS_PER_USER_MAX } from "../../src/contract/limits.ts";
import { addUser } from "../api/user.ts";
import {
  type Answer,
  type CallOptions,
  okOf,
  openTestControlPlane,
  type TestControlPlane,
} from "../support/control-plane.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";

const TIMES = 2_000;
const AT_ONCE = 20;
/** The limits for rows and bytes that one flood leaves in all tables: a few counters, buckets and audit events. */
const ROWS_MAX = 40;
const BYTES_MAX = 40_000;
/** Writes per minute of one caller for the test of the rate limit, and the minutes that a slow machine may need. */
const WRITES = 60;
const MINUTES_MAX = 3;
/** The number of rows that one refused write leaves: the row of the reply, and the row of the Idempotency-Key. */
const ROWS_OF_A_WRITE = 2;

let t: TestControlPlane;
let tenant: TestTenant;
let stranger: string;
let addresses = 0;

beforeAll(async () => {
  // The default limit for logins of one account.
  t = await openTestControlPlane({ env: { BERTH_LOGIN_ACCOUNT_PER_MINUTE: "10" } });
  tenant = await openTenant(t);
  stranger = (await addUser(t.db, "stranger")).key;
  okOf(await t.call("POST", "/v1/system/users", { body: { username: "user", password: PASSWORD } }));
});
afterAll(() => t.close());

const PASSWORD = "a long enough password";

type Size = Readonly<Record<string, { readonly rows: number; readonly bytes: number }>>;

/** Returns the rows and bytes of each table. A partition counts for its parent. */
async function measure(): Promise<Size> {
  const { rows: tables } = await t.db.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
  );
  const sizes: Record<string, { rows: number; bytes: number }> = {};
  for (const { name } of tables) {
    const { rows } = await t.db.query<{ rows: number; bytes: number }>(
      `select count(*)::int as rows, coalesce(sum(pg_column_size(x.*)), 0)::float8 as bytes from "${name}" x`,
    );
    sizes[name] = rows[0]!;
  }
  return sizes;
}

/** Returns the tables that grew, and the sums of their new rows and bytes. */
async function growthOf(flood: () => Promise<unknown>) {
  const before = await measure();
  await flood();
  // The audit chain is written a moment after the answers.
  await t.plane.pass();
  const after = await measure();
  const grown = Object.entries(after).map(([name, { rows, bytes }]) => ({
    name,
    rows: rows - (before[name]?.rows ?? 0),
    bytes: bytes - (before[name]?.bytes ?? 0),
  })).filter(({ rows, bytes }) => rows > 0 || bytes > 0);
  const sum = (of: "rows" | "bytes") => grown.reduce((all, each) => all + Math.max(0, each[of]), 0);
  return { grown, rows: sum("rows"), bytes: sum("bytes") };
}

async function flood(times: number, ask: (n: number) => Promise<Answer>): Promise<number[]> {
  const statuses: number[] = [];
  let next = 0;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (next < times) statuses.push((await ask(next++)).status);
  }));
  return statuses;
}

const counted = (statuses: number[]) => [...new Set(statuses)].sort();
const keyed = (key = randomUUID()): CallOptions => ({ headers: { "idempotency-key": key } });

/** The requests that are sent 2,000 times, each with its possible statuses. */
const FLOODS: Readonly<Record<string, { readonly ask: (n: number) => Promise<Answer>; readonly statuses: number[] }>> =
  {
    "reads without permission": {
      ask: () => t.call("GET", "/v1/silos", { key: stranger }),
      statuses: [403],
    },
    "reads of absent objects and of another tenant's objects": {
      ask: (n) => t.call("GET", `/v1/tenants/${n % 2 ? tenant.tenant_id : randomUUID()}/projects`, { key: stranger }),
      statuses: [404],
    },
    "writes without permission, each with a new Idempotency-Key": {
      ask: () => t.call("POST", "/v1/silos", { key: stranger, body: { name: randomUUID() }, ...keyed() }),
      statuses: [403],
    },
    "requests with an unknown key": {
      ask: () => t.call("GET", "/v1/silos", { key: `opsk_${"A".repeat(12)}_${randomUUID().replaceAll("-", "")}` }),
      statuses: [401],
    },
    "failed logins of one account from many addresses": {
      ask: () =>
        t.call("POST", "/v1/auth/login", {
          key: null,
          body: { username: "user", password: "wrong" },
          // Each address has a bucket, which is deleted when it is full again.
          address: `198.51.100.${1 + (addresses++ % 20)}`,
        }),
      statuses: [401, 429],
    },
    "invalid bodies": {
      ask: (n) => t.call("POST", "/v1/silos", { body: n % 2 ? { name: n } : { unknown: n }, ...keyed() }),
      statuses: [400],
    },
    "refreshes with an unknown token": {
      ask: () => t.call("POST", "/v1/auth/refresh", { key: null, body: { refresh_token: randomUUID() } }),
      statuses: [401],
    },
    "polls with an unknown token": {
      ask: () => t.call("GET", `/v1/agent/register/status?poll_token=${randomUUID()}`, { key: null }),
      statuses: [404],
    },
  };

describe("S-49: 2,000 refused requests leave a bounded number of rows", () => {
  test.each(Object.keys(FLOODS))("%s", async (name) => {
    const { ask, statuses } = FLOODS[name]!;
    const { grown, rows, bytes } = await growthOf(async () => {
      expect(counted(await flood(TIMES, ask))).toEqual(statuses);
    });
    expect(rows, JSON.stringify(grown)).toBeLessThan(ROWS_MAX);
    expect(bytes, JSON.stringify(grown)).toBeLessThan(BYTES_MAX);
  }, 180_000);
});

test("S-49: 2,000 repetitions of one request with its Idempotency-Key leave a bounded number of rows", async () => {
  const given = keyed();
  const path = `/v1/tenants/${tenant.tenant_id}/projects`;
  const body = { name: randomUUID() };
  const create = () => t.call("POST", path, { body, ...given });
  await create();
  const { grown, rows } = await growthOf(async () => {
    expect(counted(await flood(TIMES, create))).toEqual([201]);
  });
  expect(rows, JSON.stringify(grown)).toBeLessThan(ROWS_MAX);
}, 120_000);

test("S-49: logins leave no more sessions than a user may have", async () => {
  const login = () => t.call("POST", "/v1/auth/login", { key: null, body: { username: "user", password: PASSWORD } });
  await t.advance(60);
  for (let n = 0; n < SESSIONS_PER_USER_MAX + 3; n += 1) expect((await login()).status).toBe(200);
  const { rows } = await t.db.query<{ n: number }>("select count(*)::int as n from session");
  expect(rows[0]!.n).toBe(SESSIONS_PER_USER_MAX);
}, 120_000);

test(
  "S-49: the first denial is audited at once, later denials are audited as one sum, and no denial is lost",
  async () => {
    const { key, id } = await addUser(t.db, "denied");
    const denials = async () =>
      (await t.call("GET", "/v1/audit/events?limit=1000")).body.events.filter(
        (event: { decision: string; actor: { user_id?: string } }) =>
          event.decision === "deny" && event.actor.user_id === id,
      );
    const denied = () => t.call("GET", "/v1/silos", { key });
    expect((await denied()).status).toBe(403);
    await expect.poll(async () => (await denials()).length, { timeout: 30_000 }).toBe(1);
    expect(counted(await flood(199, denied))).toEqual([403]);
    expect((await denials()).length).toBe(1);
    await t.advance(61);
    // The next denial ends the period of the sum; without another denial, maintenance ends the period.
    expect((await denied()).status).toBe(403);
    await expect.poll(async () => (await denials()).length, { timeout: 30_000 }).toBe(2);
    const [first, sum] = await denials();
    expect(first.payload).toEqual({});
    expect(sum.payload).toEqual({ denials: 200, since: expect.any(String), until: expect.any(String) });
    expect((await t.call("GET", "/v1/audit/verify")).body.outcome).toHaveProperty("Ok");
  },
  120_000,
);

describe("S-49: the caller's rate limit bounds requests that each leave a row", () => {
  let limited: TestControlPlane;
  let caller: TestTenant;
  beforeAll(async () => {
    limited = await openTestControlPlane({
      databaseUrl: t.databaseUrl,
      env: { BERTH_LIMITS_CALLER_WRITES_PER_MINUTE: String(WRITES) },
    });
    caller = await openTenant(t);
  });
  afterAll(() => limited.close());

  test("refused commands with new Idempotency-Keys, from two keys of one tenant", async () => {
    const path = `/v1/tenants/${caller.tenant_id}/projects`;
    const [name, more] = [
      randomUUID(),
      okOf(
        await t.call("POST", `/v1/tenants/${caller.tenant_id}/api-keys`, {
          body: { description: "another" },
        }),
      ),
    ];
    okOf(await t.call("POST", path, { body: { name } }));
    const { grown, rows } = await growthOf(async () => {
      const statuses = await flood(
        TIMES,
        (n) => limited.call("POST", path, { key: n % 2 ? caller.key : more.secret, body: { name }, ...keyed() }),
      );
      expect(counted(statuses)).toEqual([409, 429]);
    });
    expect(rows, JSON.stringify(grown)).toBeLessThan(ROWS_OF_A_WRITE * WRITES * MINUTES_MAX + ROWS_MAX);
  }, 120_000);
});
