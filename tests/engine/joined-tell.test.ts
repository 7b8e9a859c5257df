// The decision of a tell's receiver joins the sender's commit (tellJoined) if the receiver's decision cannot fail.
// Otherwise the message is delivered after the commit. The sender's own decision is committed in both cases.
import { expect, test } from "vitest";
import { conflict } from "../../src/contract/fault.ts";
import { audit, go, insert, lock, refuse, take, withActor } from "../../actors/engine/effects.ts";
import { createEngine } from "../../actors/engine/engine.ts";
import { tellJoined } from "../../actors/engine/saga.ts";
import { CommitError } from "../../actors/engine/store.ts";
import type { Behavior, Message, Out } from "../../actors/engine/types.ts";
import { productionPorts } from "../../src/workers/ports.ts";
import { createMemoryStore } from "../support/memory-store.ts";

type Thing = { readonly state: string; readonly id: string };
type How =
  | "accepts"
  | "ignores"
  | "refuses"
  | "throws"
  | "has a condition"
  | "needs a third actor"
  | "breaks a constraint"
  | "waits for a lock";
type Do = Message & { readonly how: How };

const NOW = new Date("2026-01-01T00:00:00Z");
const NODE = { actor: { kind: "user", id: "u" } as never, request_id: null };
const SENDER = { kind: "sender", id: "s" };
const RECEIVER = { kind: "receiver", id: "r" };

const kind = (name: string, step: (m: Do) => Out<Thing>): Behavior<Thing, Do> => ({
  kind: name,
  table: name,
  key: "id",
  step: (_s, m) => step(m),
  deadline: () => null,
  view: (s) => s,
});
const sender = kind(
  "sender",
  ({ how }) => go({ state: "sent", id: "s" }, audit("made" as never, null), tellJoined(RECEIVER, { type: "do", how })),
);
const receiver = kind("receiver", ({ how }) => {
  const next = { state: "told", id: "r" };
  switch (how) {
    case "accepts":
      return go(next, audit("told" as never, null));
    case "ignores":
      return { out: "ignore" };
    case "refuses":
      return refuse(conflict("no"));
    case "throws":
      throw new Error("the receiver is of another build");
    case "has a condition":
      return go(next, take("none", 1, conflict("none left")));
    case "needs a third actor":
      return go(next, withActor({ kind: "third", id: "t" }, { type: "do" }));
    case "breaks a constraint":
      return go(next, insert("part", { id: 1 }));
    case "waits for a lock":
      return go(next, lock("held"));
  }
});
const third = kind("third", () => refuse(conflict("the third refuses")));

function openEngine() {
  const behaviors = [sender, receiver, third];
  const store = createMemoryStore({ kinds: behaviors, guards: {}, effects: {}, pools: {}, now: () => NOW } as never);
  let commits = 0;
  const commit: typeof store.commit = (units) => {
    commits += 1;
    const breaks = units.some(({ choices }) => choices.some(({ children }) => children.length > 0));
    const waits = units.some(({ choices }) => choices.some(({ conditions }) => conditions.length > 0));
    if (waits) return Promise.reject(new CommitError("busy", null));
    return breaks ? Promise.reject(new CommitError("constraint", "part_pkey")) : store.commit(units);
  };
  const ports = { ...productionPorts(), sleep: () => Promise.resolve() };
  const exclusive: typeof store.exclusive = (ref, run) =>
    store.exclusive(ref, (session) => run({ ...session, commit }));
  const engine = createEngine({ store: { ...store, commit, exclusive }, behaviors, ports });
  const send = (how: How) => engine.send(SENDER, { type: "do", how }, { origin: NODE });
  const stateOf = (name: string) => (store.tables.actors.get(name)?.state as Thing | undefined)?.state;
  return { send, stateOf, store, commits: () => commits };
}

test("a receiver's decision that cannot fail joins the sender's commit, and its audit event names the system as the actor", async () => {
  const { send, stateOf, store, commits } = openEngine();
  expect(await send("accepts")).toMatchObject({ ok: true, reply: { state: "sent" } });
  expect([stateOf("sender:s"), stateOf("receiver:r")]).toEqual(["sent", "told"]);
  expect(commits()).toBe(1);
  expect(await store.outbox(10)).toEqual([]);
  const actors = store.tables.transitions.map(({ actor_kind, audit }) => [actor_kind, (audit as never)["actor"]]);
  expect(actors).toEqual([["sender", NODE.actor], ["receiver", { kind: "system" }]]);
});

test("a message that the receiver ignores is not delivered again", async () => {
  const { send, stateOf, store } = openEngine();
  expect((await send("ignores")).ok).toBe(true);
  expect([stateOf("sender:s"), stateOf("receiver:r")]).toEqual(["sent", undefined]);
  expect(await store.outbox(10)).toEqual([]);
});

test.each<How>([
  "refuses",
  "throws",
  "has a condition",
  "needs a third actor",
  "breaks a constraint",
  "waits for a lock",
])(
  "if the receiver %s, the sender's decision is committed, and the message waits for its delivery",
  async (how) => {
    const { send, stateOf, store } = openEngine();
    expect(await send(how)).toMatchObject({ ok: true, reply: { state: "sent" } });
    expect([stateOf("sender:s"), stateOf("receiver:r")]).toEqual(["sent", undefined]);
    expect(await store.outbox(10)).toMatchObject([{ to: RECEIVER, message: { type: "do", how } }]);
    expect(store.tables.transitions.map(({ actor_kind }) => actor_kind)).toEqual(["sender"]);
  },
);
