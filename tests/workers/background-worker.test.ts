// Tests the background worker: it acts on a commit of its own process at once, and its passes find the other work.
import { expect, test, vi } from "vitest";
import type { Engine } from "../../actors/engine/engine.ts";
import type { Committed } from "../../actors/engine/options.ts";
import type { LoadedActor, OutboxRow, Store } from "../../actors/engine/store.ts";
import { type ActorRef, type Message, type Outcome, refKey } from "../../actors/engine/types.ts";
import { OVERLOADED } from "../../actors/engine/engine.ts";
import { type BackgroundWorkerOptions, createBackgroundWorker } from "../../src/workers/background-worker.ts";
import { productionPorts } from "../../src/workers/ports.ts";

const NOW = new Date("2026-01-01T00:00:00Z");
const SAGA = { kind: "saga", id: "s" };
const OF_A_LATER_RELEASE = { saga: "of a later release", state: "running", step: "first", due_at: NOW };
const JOB = { kind: "job", id: "j" };
const NOTHING: Committed = { refs: [], rows: [], tells: [], due: [] };
/** More rows than one batch of the worker has. */
const MANY = 450;
const tell = (id: string): OutboxRow => ({ id, to: SAGA, message: { type: "job_ended" } });

/** Opens a worker with an outbox and one saga. `answer` returns the engine's answer to each message. */
function openWorker(
  answer: (message: Message, id: string | undefined) => Promise<Outcome> = () =>
    Promise.resolve({ ok: true, reply: null }),
  more: Partial<BackgroundWorkerOptions> = {},
) {
  const sent: [string | undefined, ActorRef, Message][] = [];
  const outbox: OutboxRow[] = [];
  const due: ActorRef[] = [];
  const deleted: string[][] = [];
  let maintained = 0;
  let saga: Record<string, unknown> | null = null;
  let slow: Promise<unknown> = Promise.resolve();
  const nothing = () => Promise.resolve();
  const store: Pick<Store, "load" | "due" | "outbox" | "delivered"> = {
    load: async (refs) => {
      const states = refs.map((ref) => [refKey(ref), ref.id === SAGA.id ? saga : OF_A_LATER_RELEASE] as const);
      await slow;
      const loaded = states.map(([key, state]): [string, LoadedActor] => [key, { state, incarnation: "", version: 1 }]);
      return { now: NOW, actors: new Map(loaded) };
    },
    due: (_kind, limit) => Promise.resolve(due.slice(0, limit)),
    outbox: (limit) => Promise.resolve(outbox.slice(0, limit)),
    delivered: (ids) => {
      deleted.push([...ids]);
      for (const id of ids) outbox.splice(outbox.findIndex((row) => row.id === id) >>> 0, 1);
      return Promise.resolve();
    },
  };
  const send: Engine["send"] = (to, message, how) => {
    sent.push([how?.id, to, message]);
    return answer(message, how?.id);
  };
  const worker = createBackgroundWorker({
    store: store as Store,
    engine: { send } as Engine,
    ports: productionPorts((message, error) => {
      throw new Error(message, { cause: error });
    }),
    timed: [],
    knowsSaga: () => true,
    chain: nothing,
    maintain: () => Promise.resolve(maintained += 1),
    ...more,
  });
  return {
    worker,
    sent,
    outbox,
    due,
    deleted,
    maintained: () => maintained,
    standAt: (state: Record<string, unknown>) => saga = state,
    /** Makes later loads wait for `until`. Each load returns the state at its start. */
    slowLoads: (until: Promise<unknown>) => slow = until,
  };
}

test("every tell of a commit is delivered under its id, and the delivered tells are deleted together", async () => {
  const { worker, sent, deleted } = openWorker();
  worker.follow({ ...NOTHING, tells: [tell("a")] });
  worker.follow({ ...NOTHING, tells: [tell("b"), tell("c")] });
  expect(sent.map(([id]) => id)).toEqual(["a", "b", "c"]);
  expect(deleted).toEqual([]);
  await vi.waitFor(() => expect(deleted).toEqual([["a", "b", "c"]]));
});

test("a tell that a full queue refused stays in the outbox, and a later pass delivers it", async () => {
  let answer: Outcome = { ok: false, fault: OVERLOADED };
  const { worker, sent, outbox, deleted } = openWorker(() => Promise.resolve(answer));
  outbox.push(tell("a"));
  worker.follow({ ...NOTHING, tells: [tell("a")] });
  await worker.pass();
  expect([sent.length, deleted]).toEqual([1, []]);
  answer = { ok: true, reply: null };
  await vi.waitFor(async () => {
    await worker.pass();
    expect(deleted).toEqual([["a"]]);
  });
  expect(sent.map(([id]) => id)).toEqual(["a", "a"]);
});

test("a pass delivers the last tell although a full queue refuses many earlier tells, and tries each earlier tell once", async () => {
  const { worker, sent, outbox, deleted } = openWorker((_message, id) =>
    Promise.resolve(id === "last" ? { ok: true, reply: null } : { ok: false, fault: OVERLOADED })
  );
  for (let count = 0; count < MANY; count++) outbox.push(tell(`t${count}`));
  outbox.push(tell("last"));
  await worker.pass();
  expect(deleted).toEqual([["last"]]);
  expect(sent).toHaveLength(MANY + 1);
});

test("a pass runs a due saga even if the list has many earlier sagas that this build does not know", async () => {
  const known = { saga: "known", state: "running", step: "first", due_at: NOW };
  const { worker, sent, due, standAt } = openWorker((message) => {
    if (message.type === "tick") standAt({ ...known, state: "done" });
    return Promise.resolve({ ok: true, reply: null });
  }, { timed: ["saga"], knowsSaga: (name) => name === "known" });
  for (let count = 0; count < MANY; count++) due.push({ kind: "saga", id: `unknown${count}` });
  due.push(SAGA);
  standAt(known);
  await worker.pass();
  expect(sent.map(([, to, { type }]) => [to, type])).toEqual([[SAGA, "tick"]]);
});

test("maintenance runs although every pass finds more work", async () => {
  const { worker, due, maintained } = openWorker(undefined, { timed: ["job"], maintenance_every_ms: 30 });
  for (let count = 0; count < MANY; count++) due.push({ kind: "job", id: `j${count}` });
  worker.start();
  await vi.waitFor(() => expect(maintained()).toBeGreaterThan(2));
  due.length = 0;
  await worker.stop();
});

test("a pass omits a tell that is being delivered", async () => {
  const gate = Promise.withResolvers<Outcome>();
  const { worker, sent, outbox } = openWorker(() => gate.promise);
  outbox.push(tell("a"));
  worker.follow({ ...NOTHING, tells: [tell("a")] });
  await worker.pass();
  expect(sent).toHaveLength(1);
  gate.resolve({ ok: true, reply: null });
});

test("a saga that a commit made due runs at once, until it waits", async () => {
  const { worker, sent, standAt } = openWorker((message) => {
    if (message.type === "tick") standAt({ state: "running", step: "second", due_at: new Date(NOW.getTime() + 1) });
    return Promise.resolve({ ok: true, reply: null });
  });
  standAt({ state: "running", step: "first", due_at: NOW });
  worker.follow({ ...NOTHING, due: [SAGA] });
  await worker.stop();
  expect(sent.map(([, to, { type }]) => [to, type])).toEqual([[SAGA, "tick"]]);
});

test("the reason of a refused step is sent to the saga", async () => {
  const { worker, sent, standAt } = openWorker((message) => {
    if (message.type !== "tick") return Promise.resolve({ ok: true, reply: null });
    return Promise.resolve({ ok: false, fault: { kind: "conflict", message: "the door is closed" } });
  });
  standAt({ state: "running", step: "first", due_at: NOW });
  worker.follow({ ...NOTHING, due: [SAGA] });
  await vi.waitFor(() => expect(sent).toHaveLength(2));
  expect(sent[1]?.[2]).toEqual({ type: "step_refused", step: "first", reason: "the door is closed" });
});

test("if a commit makes a saga due during the last load of its run, the worker runs the saga again", async () => {
  const gate = Promise.withResolvers<void>();
  const { worker, sent, standAt, slowLoads } = openWorker((message) => {
    if (message.type === "tick") {
      standAt({ state: "running", step: "second", due_at: new Date(NOW.getTime() + 1) });
      slowLoads(gate.promise);
    }
    return Promise.resolve({ ok: true, reply: null });
  });
  standAt({ state: "running", step: "first", due_at: NOW });
  worker.follow({ ...NOTHING, due: [SAGA] });
  await vi.waitFor(() => expect(sent).toHaveLength(1));
  await new Promise((wake) => setTimeout(wake));
  standAt({ state: "running", step: "third", due_at: NOW });
  worker.follow({ ...NOTHING, due: [SAGA] });
  gate.resolve();
  await vi.waitFor(() => expect(sent).toHaveLength(2));
});

test("an actor that is not a saga gets a tick when a commit makes it due", async () => {
  const { worker, sent } = openWorker();
  worker.follow({ ...NOTHING, due: [JOB] });
  await worker.stop();
  expect(sent).toEqual([[undefined, JOB, { type: "tick" }]]);
});

test("a worker that stops completes the work that it began, and acts on no later commit", async () => {
  const { worker, sent, deleted } = openWorker();
  worker.follow({ ...NOTHING, tells: [tell("a")] });
  await worker.stop();
  expect(deleted).toEqual([["a"]]);
  worker.follow({ ...NOTHING, tells: [tell("b")], due: [JOB] });
  expect(sent).toHaveLength(1);
});
