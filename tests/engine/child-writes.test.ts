// Tests the child rows of a commit call. One statement writes rows of several units, and the writes of each unit keep
// their order. The database also accepts the form that processes of the previous release send.
import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createEngine, type Engine } from "../../actors/engine/engine.ts";
import { type Db, openClient, openPool } from "../../src/db/pool.ts";
import { createStore } from "../../src/db/store.ts";
import { productionPorts } from "../../src/workers/ports.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { lamp, LAMP_SQL, type LampMessage } from "./probe.ts";

let database: FreshDatabase;
let db: Db;
let engine: Engine;

beforeAll(async () => {
  database = await freshDatabase();
  const owner = await openClient({ url: database.url });
  await owner.query(LAMP_SQL);
  await owner.end();
  db = openPool({ url: database.url, role: "berth_app" });
  engine = createEngine({ store: createStore(db, [lamp]), behaviors: [lamp], ports: productionPorts() });
});

afterAll(async () => {
  await db?.close();
  await database?.drop();
});

async function newLamp(): Promise<string> {
  const id = randomUUID();
  await send(id, { type: "make", id });
  return id;
}

const send = (id: string, message: LampMessage) => engine.send({ kind: "lamp", id }, message);

async function partsOf(id: string) {
  const { rows } = await db.query("select key, value from lamp_part where lamp_id = $1 order by key", [id]);
  return rows;
}

test("concurrent messages write the child rows of each lamp in the order of the lamp's messages", async () => {
  const lamps = await Promise.all(Array.from({ length: 5 }, newLamp));
  const outcomes = await Promise.all(lamps.flatMap((id, index) => [
    send(id, { type: "child", op: "insert", key: "a", value: 1 }),
    send(id, { type: "child", op: "upsert", key: "a", value: 2 }),
    send(id, { type: "child", op: "upsert", key: "a", value: 10 + index }),
    send(id, { type: "child", op: "insert", key: "b", value: 1 }),
    send(id, { type: "child", op: "delete", key: "b", value: 0 }),
    send(id, { type: "child", op: "insert", key: "b", value: 20 + index }),
  ]));
  expect(outcomes.every(({ ok }) => ok)).toBe(true);
  for (const [index, id] of lamps.entries()) {
    expect(await partsOf(id)).toEqual([{ key: "a", value: 10 + index }, { key: "b", value: 20 + index }]);
  }
});

test("the form of the previous release, in which each child row is an entry of its own, is accepted", async () => {
  const id = await newLamp();
  const child = (op: string, row: object) => ({ u: 0, c: 0, op, table: "lamp_part", key: ["lamp_id", "key"], row });
  const children = [
    child("insert", { lamp_id: id, key: "a", value: 1 }),
    child("upsert", { lamp_id: id, key: "a", value: 2 }),
    child("insert", { lamp_id: id, key: "b", value: 3 }),
    child("delete", { lamp_id: id, key: "a" }),
  ].map((each, n) => ({ ...each, n }));
  await commit({ units: 1, children });
  expect(await partsOf(id)).toEqual([{ key: "b", value: 3 }]);
});

test("tokens are replaced by allocated values, even if the process does not state which rows have tokens", async () => {
  const id = await newLamp();
  const owner = await openClient({ url: database.url });
  await owner.query("insert into pool (id) values ('parts')");
  await owner.query("insert into pool_range (pool_id, low, high) values ('parts', 7, 9)");
  await owner.end();
  const token = randomUUID();
  const conditions = [{ do: "allocate", pool: "parts", token, fault: { code: "Conflict", message: "none is free" } }];
  const plans = [{ u: 0, partial: false, choices: [conditions] }];
  const of = { op: "insert", table: "lamp_part", key: ["lamp_id", "key"] };
  await commit({
    units: 1,
    plans,
    children: [
      { ...of, u: 0, c: 0, row: { lamp_id: id, key: "a", value: token } },
      { ...of, columns: ["lamp_id", "key", "value"], entries: [{ $u: 0, $c: 0, lamp_id: id, key: "b", value: token }] },
    ],
  });
  expect(await partsOf(id)).toEqual([{ key: "a", value: 7 }, { key: "b", value: 7 }]);
});

/** Sends a commit call in which the JSON document has all values and the 21 lists are empty. */
async function commit(call: object): Promise<void> {
  const lists = Array.from({ length: 21 }, () => "{}");
  const places = ["", ...lists].map((_, n) => `$${n + 1}`);
  await db.query(`select commit_units_1(${places})`, [JSON.stringify(call), ...lists]);
}

test("a value that is too large for an index fails only its own message", async () => {
  const ids = [randomUUID(), randomUUID(), randomUUID()];
  const outcomes = await Promise.allSettled(ids.map((id, at) => {
    // PostgreSQL cannot compress this label, and an entry of the unique index has at most 2,704 bytes.
    const label = at === 1 ? randomBytes(4_000).toString("base64") : `small ${id}`;
    return engine.send({ kind: "lamp", id }, { type: "make", id, label });
  }));
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});
