// Tests that TypeScript and SQL have the same conditions. Each guard and effect that TypeScript declares must be an SQL
// function. So no decision can use a condition that the database lacks.
import { afterAll, beforeAll, expect, test } from "vitest";
import { callCondition, EFFECTS, GUARDS } from "../../actors/engine/conditions.ts";
import { allocate } from "../../actors/engine/effects.ts";
import { type Db, openPool } from "../../src/db/pool.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { NO_ADDRESS } from "./probe.ts";

/** Guards that only earlier versions use. The database keeps them for old servers that run during an upgrade. */
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

test("every guard in TypeScript is a SQL function, and every SQL guard is in TypeScript or from an earlier version", async () => {
  expect(await functionsNamed("guard_")).toEqual([...Object.keys(GUARDS), ...OF_EARLIER_VERSIONS].sort());
});

test("every effect in TypeScript is a SQL function, and every SQL effect is in TypeScript", async () => {
  expect(await functionsNamed("effect_")).toEqual(Object.keys(EFFECTS).sort());
});

test("a condition in the commit call has its name in the field `do`; an allocation also has its range", () => {
  expect(callCondition(allocate("sockets", "token", NO_ADDRESS, { low: 2, high: 5 })))
    .toEqual({ do: "allocate", pool: "sockets", token: "token", fault: NO_ADDRESS, low: 2, high: 5 });
});
