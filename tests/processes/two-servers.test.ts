// Two servers share only a database. If either of them is killed at any moment, no acknowledged change is lost.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Db, openPool } from "../../src/db/pool.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { must } from "./client.ts";
import { auditViolations, historyViolations, invariantViolations } from "./history.ts";
import { type Load, startLoad } from "./load.ts";
import { killEither, type Pair, startPair } from "./pair.ts";

const KILLS_MIN = 5;
/** The maximum number of kills. A single kill may interrupt no request, but this many kills interrupt some. */
const KILLS_MAX = 50;
/** The load continues until this many requests were acknowledged, so that there is enough to check on slow machines. */
const ACKNOWLEDGED_MIN = 50;
const HOT_MIN = 10;
const PATIENCE_MS = 60_000;
const PAUSE_MS_MAX = 1_000;

let database: FreshDatabase;
let pair: Pair;
let db: Db;
let load: Load;

beforeAll(async () => {
  database = await freshDatabase();
  pair = await startPair({ DATABASE_URL: database.url });
  db = openPool({ url: database.url, applicationName: "checks" });
});

afterAll(async () => {
  await pair?.end();
  await db?.close();
  await database?.drop();
});

/** Counts the attempts without a reply, which a kill interrupted. */
function cutOff(): number {
  return load.operations.flatMap(({ attempts }) => attempts).filter(({ status }) => status === null).length;
}

/** Returns the maximum number of transitions that any node has. */
async function hottest(): Promise<number> {
  const { rows } = await db.query<{ hot: number | null }>(
    "select max(count)::int as hot from (select count(*) from transition where actor_kind = 'cn' group by actor_id) t",
  );
  return rows[0]!.hot ?? 0;
}

async function killAtRandom(): Promise<void> {
  for (let kill = 0; kill < KILLS_MIN || (cutOff() === 0 && kill < KILLS_MAX); kill++) {
    await new Promise((wake) => setTimeout(wake, Math.random() * PAUSE_MS_MAX));
    await killEither(pair);
  }
  await expect.poll(load.acknowledged, { timeout: PATIENCE_MS }).toBeGreaterThan(ACKNOWLEDGED_MIN);
  await expect.poll(hottest, { timeout: PATIENCE_MS }).toBeGreaterThan(HOT_MIN);
  // A period without kills, in which clients learn the outcome of the requests that they repeat.
  await new Promise((wake) => setTimeout(wake, PAUSE_MS_MAX));
}

test("when either of two servers is killed under load, no acknowledged change is lost or duplicated", async () => {
  load = startLoad({ urls: pair.urls });
  await killAtRandom().finally(load.stop);
  expect(cutOff(), "kills without an interrupted request").toBeGreaterThan(0);
  expect(await historyViolations(db, load.operations)).toEqual([]);
  expect(await invariantViolations(db)).toEqual([]);
}, 240_000);

test(`one node has more than ${HOT_MIN} transitions, so the servers competed for its record`, async () => {
  expect(await hottest()).toBeGreaterThan(HOT_MIN);
});

test("a repeated request gets the same reply from either server", async () => {
  const done = load.operations.filter(({ outcome, event }) => outcome === "acknowledged" && event !== "register");
  for (const { method, path, body, idempotency_key, answer } of done.slice(0, 40)) {
    for (const url of pair.urls()) {
      const again = await must(url, { method, path, body, idempotency_key: idempotency_key! });
      expect(again).toEqual(answer);
    }
  }
  expect(await historyViolations(db, load.operations)).toEqual([]);
}, 120_000);

test("either server verifies the audit chain, which has one event per audited transition", async () => {
  for (const url of pair.urls()) {
    const { outcome } = await must<{ outcome: object }>(url, { method: "GET", path: "/v1/audit/verify" });
    expect(outcome).toHaveProperty("Ok");
  }
  await expect.poll(() => auditViolations(db), { timeout: PATIENCE_MS }).toEqual([]);
});

test("the checks of history.ts find a lost effect, a duplicated effect, an effect of a rejected request, and a forged log", async () => {
  const done = load.operations.find(({ outcome, event }) => outcome === "acknowledged" && event === "set_role")!;
  expect(await historyViolations(db, [{ ...done, outcome: "refused" }])).toHaveLength(1);
  expect(await historyViolations(db, [{ ...done, idempotency_key: crypto.randomUUID() }])).toHaveLength(1);
  const broken = [
    "delete from transition where id = (select min(id) from transition where actor_kind = 'cn' and seq = 1)",
    "update transition set from_state = 'disabled' where id = (select min(id) from transition where event = 'approve')",
    "update cn set version = version + 1 where server_uuid = (select min(server_uuid::text)::uuid from cn)",
    "delete from api_key where bound_to_cn is not null",
  ];
  for (const statement of broken) {
    await db.withClient(async (client) => {
      await client.query("begin");
      await client.query(statement);
      expect(await invariantViolations(client), statement).not.toEqual([]);
      await client.query("rollback");
    });
  }
});
