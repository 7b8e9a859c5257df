// A message can create another actor in addition to its own actor (withNewActor). The engine writes the new actor and
// does not load it first.
import { expect, test } from "vitest";
import { go, withNewActor } from "../../actors/engine/effects.ts";
import { createEngine } from "../../actors/engine/engine.ts";
import type { Behavior, Message } from "../../actors/engine/types.ts";
import { productionPorts } from "../../src/workers/ports.ts";
import { createMemoryStore } from "../support/memory-store.ts";

type Thing = { readonly state: string; readonly id: string };
type Make = Message & { readonly id: string };

const NOW = new Date("2026-01-01T00:00:00Z");
const CHILD = { kind: "child", id: "c" };

const kind = (name: string, step: Behavior<Thing, Make>["step"]): Behavior<Thing, Make> => ({
  kind: name,
  table: name,
  key: "id",
  step,
  deadline: () => null,
  view: (s) => s,
});
const parent = kind(
  "parent",
  (_s, m) => go({ state: "made", id: m.id }, withNewActor(CHILD, { type: "make", id: "c" })),
);
const child = kind("child", (s, m) => go({ state: s === null ? "made" : "kept", id: m.id }));

function openEngine() {
  const loads: string[] = [];
  const behaviors = [parent, child];
  const store = createMemoryStore({ kinds: behaviors, guards: {}, effects: {}, pools: {}, now: () => NOW } as never);
  const load: typeof store.load = (refs) => {
    loads.push(...refs.map((ref) => ref.kind));
    return store.load(refs);
  };
  const ports = { ...productionPorts(), sleep: () => Promise.resolve() };
  return { loads, store, engine: createEngine({ store: { ...store, load }, behaviors, ports }) };
}

const make = (id: string) => [{ kind: "parent", id }, { type: "make", id }] as const;
const stateOf = (row: { readonly state: unknown } | undefined) => row?.state;

test("a new actor is written, and the engine does not load it first", async () => {
  const { loads, store, engine } = openEngine();
  expect(await engine.send(...make("p"))).toMatchObject({ ok: true });
  expect(loads).toEqual(["parent"]);
  expect(stateOf(store.tables.actors.get("child:c"))).toMatchObject({ state: "made" });
});

test("if an actor with the new id exists, the engine loads this actor, and its own step function decides", async () => {
  const { loads, store, engine } = openEngine();
  await engine.send(CHILD, { type: "make", id: "c" });
  loads.length = 0;
  expect(await engine.send(...make("p"))).toMatchObject({ ok: true });
  expect(loads).toEqual(["parent", "parent", "child"]);
  const row = store.tables.actors.get("child:c");
  expect([row?.version, stateOf(row)]).toEqual([2, expect.objectContaining({ state: "kept" })]);
});
