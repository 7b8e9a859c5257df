// The names of conditions in TypeScript are the names of the SQL functions, so a decision cannot use one that the
// database does not have.
import { afterAll, beforeAll, expect, test } from "vitest";
import { callCondition, EFFECTS, GUARDS } from "../../actors/engine/conditions.ts";
import { allocate } from "../../actors/engine/effects.ts";
import { type Db, openPool } from "../../src/db/pool.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { NO_ADDRESS } from "./probe.ts";

/** Guards of earlier versions. They stay, so that an old server can share the database during an upgrade. */
const OF_EARLIER_VERSIONS = ["enrollment_pi_is_set"];

let database: FreshDatabase;
let db: Db;

beforeAll(async () => {
  database = await freshDatabase();
  db = openPool({ url: database.url });
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

async function functionsNamed(prefix: string): Promise<readonly string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select substr(proname, length($1) + 1) as name from pg_proc
      where pronamespace = 'public'::regnamespace and starts_with(proname, $1) order by name`,
    [prefix],
  );
  return rows.map(({ name }) => name);
}

test("every guard is a SQL function, and every guard function is declared", async () => {
  expect(await functionsNamed("guard_")).toEqual([...Object.keys(GUARDS), ...OF_EARLIER_VERSIONS].sort());
});

test("every effect is a SQL function, and every effect function is declared", async () => {
  expect(await functionsNamed("effect_")).toEqual(Object.keys(EFFECTS).sort());
});

test("the commit call gets a condition under the key do, with the range of an allocation", () => {
  expect(callCondition(allocate("sockets", "token", NO_ADDRESS, { low: 2, high: 5 })))
    .toEqual({ do: "allocate", pool: "sockets", token: "token", fault: NO_ADDRESS, low: 2, high: 5 });
});
