// A commit call divides its units into waves. The units of a wave are checked together.
import { expect, test } from "vitest";
import type { CallCondition } from "../../actors/engine/conditions.ts";
import type { Unit } from "../../actors/engine/store.ts";
import { wavesOf } from "../../actors/engine/waves.ts";

const shared = (key: string): CallCondition => ({ do: "lock", key, shared: true });
const counted = (key: string): CallCondition => ({ do: "lock", key, shared: false, counted: true });
const alone = (key: string): CallCondition => ({ do: "lock", key, shared: false });

let actors = 0;
function unit(...conditions: readonly CallCondition[]): Unit {
  return on(`${actors += 1}`, ...conditions);
}

function on(id: string, ...conditions: readonly CallCondition[]): Unit {
  const choice = { conditions, rows: [], children: [], transitions: [], replies: [], outbox: [] };
  return { actors: [{ ref: { kind: "lamp", id }, incarnation: "", version: 1 }], stale_ids: [], choices: [choice] };
}

test("units without a common actor or lock share a wave", () => {
  expect(wavesOf([unit(), unit(alone("a")), unit(alone("b"))])).toEqual([0, 0, 0]);
});

test("units of one actor are in successive waves", () => {
  expect(wavesOf([on("x"), on("y"), on("x"), on("x")])).toEqual([0, 0, 1, 2]);
});

test("units that hold a lock exclusively are in successive waves", () => {
  expect(wavesOf([unit(alone("a")), unit(alone("a")), unit(alone("a"))])).toEqual([0, 1, 2]);
});

test("units with the same shared or counted lock are in one wave", () => {
  expect(wavesOf([unit(shared("a")), unit(shared("a"))])).toEqual([0, 0]);
  expect(wavesOf([unit(counted("a")), unit(counted("a"))])).toEqual([0, 0]);
});

test("units that hold a lock in different modes are in different waves, in the order of the units", () => {
  const modes = [shared, counted, alone, counted, counted, shared, shared].map((mode) => unit(mode("a")));
  expect(wavesOf(modes)).toEqual([0, 1, 2, 3, 3, 4, 4]);
});

test("a unit that holds a lock in two modes holds it exclusively", () => {
  expect(wavesOf([unit(shared("a"), counted("a")), unit(counted("a"))])).toEqual([0, 1]);
});

test("a unit that holds a lock exclusively comes after the last unit that shares the lock", () => {
  const units = [unit(alone("b")), unit(alone("b"), shared("a")), unit(shared("a")), unit(alone("a"))];
  expect(wavesOf(units)).toEqual([0, 1, 0, 2]);
});
