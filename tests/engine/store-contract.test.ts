// Runs the same tests for three stores:
// - the in-memory store
// - the PostgreSQL store with the statements that `deno task schema` printed
// - the PostgreSQL store that composes its statements in SQL
// All these stores must behave in the way that the engine requires.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEngine } from "../../actors/engine/engine.ts";
import { fault } from "../../src/contract/fault.ts";
import { createMemoryStore } from "../support/memory-store.ts";
import { CommitError, type Store } from "../../actors/engine/store.ts";
import { printedFunctions } from "../../migrations/print-functions.ts";
import { createStore } from "../../src/db/store.ts";
import { type Connection, type Db, openClient, openPool } from "../../src/db/pool.ts";
import { freshDatabase } from "../support/database.ts";
import { productionPorts } from "../../src/workers/ports.ts";
import { lamp, LAMP_SQL, type LampMessage } from "./probe.ts";

type Log = { readonly seq: number; readonly event: string; readonly from_state: string; readonly to_state: string };

/** The store under test, and functions that read its rows. */
type Subject = {
  readonly store: Store;
  history(id: string): Promise<readonly Log[]>;
  parts(id: string): Promise<readonly { key: string; value: number }[]>;
  current(): Promise<number>;
  close(): Promise<void>;
};

function memorySubject(): Promise<Subject> {
  const store = createMemoryStore({
    now: () => new Date(),
    kinds: [{ kind: "lamp", table: "lamp", key: "id" }],
    unique: [
      { name: "lamp_label", table: "lamp", columns: ["label"] },
      { name: "lamp_part_pkey", table: "lamp_part", columns: ["lamp_id", "key"] },
    ],
    testGuards: {
      lamp_allows: (args) => {
        const { allow } = args as { allow: unknown };
        // PostgreSQL refuses a value that is not a boolean, and so does this store.
        if (typeof allow !== "boolean") throw new CommitError("constraint", null);
        return allow;
      },
      lamp_label_is_free: (args, { actors }) =>
        [...actors.values()].every(({ state }) => state?.["label"] !== (args as { label: string }).label),
    },
  });
  store.tables.budgets.set("current", { remaining: 3, expires_at: null });
  store.tables.pools.set("sockets", [1, 2, 3]);
  return Promise.resolve({
    store,
    history: (id) => Promise.resolve(store.tables.transitions.filter((row) => row.actor_id === id)),
    parts: (id) =>
      Promise.resolve(
        (store.tables.children.get("lamp_part") ?? []).filter((row) => row["lamp_id"] === id) as {
          key: string;
          value: number;
        }[],
      ),
    current: () => Promise.resolve(store.tables.budgets.get("current")?.remaining ?? -1),
    close: () => Promise.resolve(),
  });
}

/** Opens a database without printed statements for the lamp's tables. */
const composedSubject = () => postgresSubject(() => Promise.resolve());

/** Opens a database with a printed statement for each write of the lamp's tables. */
const printedSubject = () =>
  postgresSubject(async (owner) => {
    const table = "lamp_part";
    const printed = await printedFunctions(owner, [
      { op: "insert", table, keys: [] },
      { op: "upsert", table, keys: ["lamp_id", "key"] },
      { op: "remove", table, keys: ["lamp_id", "key"] },
    ]);
    for (const sql of printed.values()) await owner.query(sql);
    // Drops the function that composes statements, so that a statement that is not printed fails.
    await owner.query("drop function berth_statement");
  });

async function postgresSubject(prepare: (owner: Connection) => Promise<void>): Promise<Subject> {
  const database = await freshDatabase();
  const owner = await openClient({ url: database.url });
  await owner.query(LAMP_SQL);
  await prepare(owner);
  await owner.end();
  const db: Db = openPool({ url: database.url, role: "berth_app" });
  return {
    store: createStore(db, [lamp]),
    history: async (id) =>
      (await db.query<Log>("select seq, event, from_state, to_state from transition where actor_id = $1 order by id", [
        id,
      ])).rows,
    parts: async (id) =>
      (await db.query<{ key: string; value: number }>("select key, value from lamp_part where lamp_id = $1", [id]))
        .rows,
    current: async () => (await db.query("select remaining from budget where name = 'current'")).rows[0].remaining,
    close: async () => {
      await db.close();
      await database.drop();
    },
  };
}

describe.each(
  [
    ["memory", memorySubject],
    ["PostgreSQL, statements printed", printedSubject],
    ["PostgreSQL, statements composed", composedSubject],
  ] as const,
)(
  "the store in %s",
  (_name, open) => {
    let subject: Subject;
    beforeAll(async () => {
      subject = await open();
    });
    afterAll(() => subject.close());

    const engineOn = (store: Store) => createEngine({ store, behaviors: [lamp], ports: productionPorts() });
    const send = (id: string, message: LampMessage, messageId?: string) =>
      engineOn(subject.store).send({ kind: "lamp", id }, message, messageId === undefined ? {} : { id: messageId });

    async function newLamp(label?: string): Promise<string> {
      const id = randomUUID();
      const outcome = await send(id, label === undefined ? { type: "make", id } : { type: "make", id, label });
      expect(outcome.ok).toBe(true);
      return id;
    }

    test("the reply shows the written state, and the history has the transitions", async () => {
      const id = await newLamp("first");
      const outcome = await send(id, { type: "switch_on" });
      expect(outcome).toEqual({ ok: true, reply: { id, state: "on", label: "first", address: null } });
      expect(await subject.history(id)).toMatchObject([
        { seq: 1, event: "make", from_state: "absent", to_state: "off" },
        { seq: 2, event: "switch_on", from_state: "off", to_state: "on" },
      ]);
    });

    test("a message that is repeated after its commit gets the same answer and changes nothing", async () => {
      const id = await newLamp();
      const messageId = productionPorts().newId();
      const first = await send(id, { type: "switch_on", note: "hello" }, messageId);
      const second = await send(id, { type: "switch_on", note: "other" }, messageId);
      expect(first).toEqual({ ok: true, reply: { note: "hello" } });
      expect(second).toEqual(first);
      expect(await subject.history(id)).toHaveLength(2);
    });

    test("a refused message that is repeated gets the same refusal, even after the state has changed", async () => {
      const id = await newLamp();
      await send(id, { type: "switch_on" });
      const messageId = productionPorts().newId();
      const first = await send(id, { type: "switch_on" }, messageId);
      await send(id, { type: "switch_off" });
      expect(first).toMatchObject({ ok: false, fault: { message: "lamp is on already" } });
      expect(await send(id, { type: "switch_on" }, messageId)).toEqual(first);
      expect(await subject.history(id)).toHaveLength(3);
    });

    test("messages to one actor are folded into one unit and keep their order", async () => {
      const id = randomUUID();
      const engine = engineOn(subject.store);
      const to = { kind: "lamp", id } as const;
      const outcomes = await Promise.all([
        engine.send(to, { type: "make", id }),
        engine.send(to, { type: "switch_on" }),
        engine.send(to, { type: "switch_on" }),
        engine.send(to, { type: "switch_off" }),
      ]);
      expect(outcomes.map((outcome) => outcome.ok)).toEqual([true, true, false, true]);
      expect((await subject.history(id)).map((row) => [row.seq, row.to_state])).toEqual([[1, "off"], [2, "on"], [
        3,
        "off",
      ]]);
    });

    test("when several engines write at once, an engine with a version conflict loads again, and all messages get answers", async () => {
      const id = await newLamp();
      const engines = [engineOn(subject.store), engineOn(subject.store), engineOn(subject.store)];
      const outcomes = await Promise.all(
        Array.from(
          { length: 60 },
          (_, index) =>
            engines[index % 3]?.send({ kind: "lamp", id }, { type: index % 2 === 0 ? "switch_on" : "switch_off" }),
        ),
      );
      const history = await subject.history(id);
      expect(history.map((row) => row.seq)).toEqual(history.map((_, index) => index + 1));
      for (const [index, row] of history.entries()) {
        if (index > 0) expect(row.from_state).toBe(history[index - 1]?.to_state);
      }
      expect(outcomes.every((outcome) => outcome !== undefined)).toBe(true);
    });

    test("a message that changes two actors changes both in one commit, or neither of them", async () => {
      const [lit, dark] = [await newLamp(), await newLamp()];
      await send(lit, { type: "switch_on" });
      expect((await send(lit, { type: "swap", other: dark })).ok).toBe(true);
      expect((await subject.history(dark)).at(-1)).toMatchObject({ event: "switch_on", to_state: "on" });
      const refused = await send(dark, { type: "swap", other: randomUUID() });
      expect(refused).toMatchObject({ ok: false, fault: { kind: "not_found" } });
      expect((await subject.history(dark)).at(-1)).toMatchObject({ to_state: "on" });
    });

    test("concurrent takes never take more than the budget has", async () => {
      const before = await subject.current();
      const lamps = await Promise.all(Array.from({ length: 8 }, () => newLamp()));
      const outcomes = await Promise.all(lamps.map((id) => send(id, { type: "draw", amount: 1 })));
      expect(outcomes.filter((outcome) => outcome.ok)).toHaveLength(before);
      expect(await subject.current()).toBe(0);
      const [id = ""] = lamps;
      expect(await send(id, { type: "draw", amount: 1, fall_back: true })).toEqual({ ok: true, reply: { drawn: 0 } });
      await send(id, { type: "refund", amount: before });
      expect(await subject.current()).toBe(before);
    });

    test("a message that a condition refused gets the same refusal when it is repeated", async () => {
      const id = await newLamp();
      const messageId = productionPorts().newId();
      const first = await send(id, { type: "draw", amount: 100 }, messageId);
      expect(first).toMatchObject({ ok: false, fault: { message: "no current left" } });
      expect(await send(id, { type: "draw", amount: 0 }, messageId)).toEqual(first);
    });

    test("an allocation takes the lowest free value; a released value is allocated again", async () => {
      const lamps = [await newLamp(), await newLamp(), await newLamp(), await newLamp()];
      const plug = (id: string) => send(id, { type: "plug", token: `token:${randomUUID()}` });
      const outcomes = [];
      for (const id of lamps) outcomes.push(await plug(id));
      expect(outcomes.map((outcome) => outcome.ok ? (outcome.reply as { address: string }).address : "none"))
        .toEqual(["1", "2", "3", "none"]);
      await send(lamps[1] ?? "", { type: "unplug" });
      await send(lamps[0] ?? "", { type: "unplug" });
      expect(await plug(lamps[3] ?? "")).toMatchObject({ reply: { address: "1" } });
      await send(lamps[2] ?? "", { type: "unplug" });
      await send(lamps[3] ?? "", { type: "unplug" });
    });

    test("a guard accepts or refuses a message inside the commit", async () => {
      const id = await newLamp();
      expect((await send(id, { type: "guarded", allow: true })).ok).toBe(true);
      expect(await send(id, { type: "guarded", allow: false })).toMatchObject({
        ok: false,
        fault: { message: "the guard forbids it" },
      });
    });

    /** Opens an engine, and records the number of units in each of its commit calls. */
    function watched() {
      const calls: number[] = [];
      const commit: Store["commit"] = (units) => {
        calls.push(units.length);
        return subject.store.commit(units);
      };
      return { engine: engineOn({ ...subject.store, commit }), calls };
    }

    test("messages that only take locks are combined into one unit", async () => {
      const id = await newLamp();
      const { engine, calls } = watched();
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, () => engine.send({ kind: "lamp", id }, { type: "hold" })),
      );
      expect(outcomes.every(({ ok }) => ok)).toBe(true);
      expect(calls).toEqual([1]);
      expect(await subject.history(id)).toHaveLength(21);
    });

    test("guarded messages to one actor share calls, and a guard that fails refuses only its own message", async () => {
      const id = await newLamp();
      const { engine, calls } = watched();
      const allowed = Array.from({ length: 20 }, (_, index) => index % 7 !== 3);
      const outcomes = await Promise.all(
        allowed.map((allow, index) => engine.send({ kind: "lamp", id }, { type: "guarded", allow, note: `${index}` })),
      );
      expect(outcomes).toEqual(
        allowed.map((allow, index) =>
          allow
            ? { ok: true, reply: { note: `${index}` } }
            : { ok: false, fault: expect.objectContaining({ message: `the guard forbids ${index}` }) }
        ),
      );
      // Three guards fail. Each failure ends a chain of units, and the rest of the chain is decided again in the next
      // call.
      expect(calls).toHaveLength(4);
      const history = await subject.history(id);
      expect(history.map(({ seq }) => seq)).toEqual(history.map((_, index) => index + 1));
      expect(history).toHaveLength(1 + allowed.filter(Boolean).length);
    });

    test("a chain of units continues after a take from a budget, and a take that fails refuses only its own message", async () => {
      const id = await newLamp();
      const { engine } = watched();
      const before = await subject.current();
      const draw = (amount: number) => engine.send({ kind: "lamp", id }, { type: "draw", amount });
      const outcomes = await Promise.all([draw(before - 1), draw(2), draw(1), draw(1)]);
      expect(outcomes.map(({ ok }) => ok)).toEqual([true, false, true, false]);
      expect(await subject.current()).toBe(0);
      await send(id, { type: "refund", amount: before });
    });

    test("alternatives are sent only after the database declined the first decision, and a declined decision stores nothing", async () => {
      const id = await newLamp();
      const { engine, calls } = watched();
      const before = await subject.current();
      const draw = (amount: number) => engine.send({ kind: "lamp", id }, { type: "draw", amount, fall_back: true });
      expect(await draw(before)).toEqual({ ok: true, reply: { drawn: before } });
      expect(calls).toHaveLength(1);
      expect(await draw(1)).toEqual({ ok: true, reply: { drawn: 0 } });
      expect(calls).toHaveLength(3);
      expect(await subject.history(id)).toHaveLength(3);
      await send(id, { type: "refund", amount: before });
    });

    test("units whose locks exclude each other share a call, and a guard sees the rows of the earlier units", async () => {
      const lamps = await Promise.all(Array.from({ length: 6 }, () => newLamp()));
      const { engine, calls } = watched();
      const label = `label of ${lamps[0]}`;
      const outcomes = await Promise.all(
        lamps.map((id) => engine.send({ kind: "lamp", id }, { type: "label", label })),
      );
      expect(outcomes.map(({ ok }) => ok)).toEqual([true, false, false, false, false, false]);
      for (const refused of outcomes.slice(1)) {
        expect(refused).toMatchObject({ fault: { message: `a guard found ${label}` } });
      }
      expect(calls).toEqual([6]);
    });

    test("a unit that depends on an earlier unit is a conflict if the earlier unit is not written, even if the version of the dependent unit is correct", async () => {
      const id = await newLamp();
      const ref = { kind: "lamp", id } as const;
      const before = (await subject.store.load([ref])).actors.get(`lamp:${id}`);
      await send(id, { type: "switch_on" });
      const actor = { ref, incarnation: before?.incarnation ?? "" };
      const choice = { conditions: [], rows: [], children: [], transitions: [], replies: [], outbox: [] };
      const unit = { stale_ids: [], choices: [choice] };
      const results = await subject.store.commit([
        { ...unit, actors: [{ ...actor, version: 1 }] },
        { ...unit, actors: [{ ...actor, version: 2, written_by: productionPorts().newId() }] },
      ]);
      expect(results).toEqual([{ status: "conflict" }, { status: "conflict" }]);
    });

    test("a constraint refuses only the message that violates it, not the other messages of the same commit call", async () => {
      await newLamp("taken");
      const engine = engineOn(subject.store);
      const ids = Array.from({ length: 5 }, () => randomUUID());
      const outcomes = await Promise.all(
        ids.map((id, index) =>
          engine.send({ kind: "lamp", id }, index === 2 ? { type: "make", id, label: "taken" } : { type: "make", id })
        ),
      );
      expect(outcomes.map((outcome) => outcome.ok)).toEqual([true, true, false, true, true]);
      expect(outcomes[2]).toMatchObject({ fault: { message: "label is taken" } });
      expect(await subject.history(ids[2] ?? "")).toEqual([]);
    });

    test("a value that the store refuses fails only its own message, not the other messages of the same commit call", async () => {
      const ids = [await newLamp(), await newLamp(), await newLamp()];
      const engine = engineOn(subject.store);
      // PostgreSQL cannot cast this value to a boolean.
      const bad: LampMessage = { type: "guarded", allow: "neither" as unknown as boolean };
      const outcomes = await Promise.allSettled(
        ids.map((id, at) => engine.send({ kind: "lamp", id }, at === 1 ? bad : { type: "switch_on" })),
      );
      expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    });

    test.each([[[]], [[{ type: "guarded", allow: true } as LampMessage]]])(
      "if the step function throws for a message, only this message fails; earlier messages of the batch: %j",
      async (first) => {
        const id = await newLamp();
        const engine = engineOn(subject.store);
        const good = (key: string): LampMessage => ({ type: "child", op: "insert", key, value: 1 });
        // No message has this type, so the step function throws.
        const unknown = { type: "of a later release" } as unknown as LampMessage;
        const messages = [...first, good("a"), good("b"), unknown, good("c")];
        const outcomes = await Promise.allSettled(
          messages.map((message) => engine.send({ kind: "lamp", id }, message)),
        );
        const rejected = messages.filter((_, at) => outcomes[at]!.status === "rejected");
        expect(rejected).toEqual([unknown]);
        expect((await subject.parts(id)).map(({ key }) => key)).toEqual(["a", "b", "c"]);
      },
    );

    test("if two kinds have a text for the same constraint, the refusal has the text of the kind that wrote the row", async () => {
      await newLamp("named twice");
      const other = {
        ...lamp,
        kind: "other",
        constraints: { lamp_label: fault("conflict", "text of the other kind") },
      };
      const ports = productionPorts();
      const engine = createEngine({ store: subject.store, behaviors: [other, lamp], ports });
      const id = randomUUID();
      expect(await engine.send({ kind: "lamp", id }, { type: "make", id, label: "named twice" }))
        .toMatchObject({ fault: { message: "label is taken" } });
    });

    test("rows of an actor's child table are inserted, updated and deleted with the actor", async () => {
      const id = await newLamp();
      await send(id, { type: "child", op: "insert", key: "a", value: 1 });
      await send(id, { type: "child", op: "upsert", key: "a", value: 2 });
      await send(id, { type: "child", op: "upsert", key: "b", value: 3 });
      await send(id, { type: "child", op: "delete", key: "a", value: 0 });
      expect(await subject.parts(id)).toMatchObject([{ key: "b", value: 3 }]);
    });

    test("an actor that is created again after its removal has a history that starts at seq 1", async () => {
      const id = await newLamp();
      expect((await send(id, { type: "smash" })).ok).toBe(true);
      expect(await send(id, { type: "switch_on" })).toMatchObject({ ok: false, fault: { kind: "not_found" } });
      await send(id, { type: "make", id });
      expect((await subject.history(id)).map((row) => [row.seq, row.to_state])).toEqual([[1, "off"], [2, "absent"], [
        1,
        "off",
      ]]);
    });

    test("a tell waits in the outbox until it is delivered", async () => {
      const [from, to] = [await newLamp(), await newLamp()];
      await send(from, { type: "tell_other", other: to });
      const waiting = await subject.store.outbox(10);
      expect(waiting).toMatchObject([{ to: { kind: "lamp", id: to }, message: { type: "switch_on" } }]);
      await subject.store.delivered(waiting.map((each) => each.id));
      expect(await subject.store.outbox(10)).toEqual([]);
    });

    test("a unit with an old version of its actor is a conflict", async () => {
      const id = await newLamp();
      const loaded = await subject.store.load([{ kind: "lamp", id }]);
      const before = loaded.actors.get(`lamp:${id}`);
      await send(id, { type: "switch_on" });
      const [result] = await subject.store.commit([{
        actors: [{ ref: { kind: "lamp", id }, incarnation: before?.incarnation ?? "", version: before?.version ?? 0 }],
        stale_ids: [],
        choices: [{ conditions: [], rows: [], children: [], transitions: [], replies: [], outbox: [] }],
      }]);
      expect(result).toEqual({ status: "conflict" });
    });

    test("a commit of a message id that is already stored fails the whole call", async () => {
      const id = await newLamp();
      const messageId = productionPorts().newId();
      await send(id, { type: "switch_on" }, messageId);
      const loaded = (await subject.store.load([{ kind: "lamp", id }])).actors.get(`lamp:${id}`);
      const twin = subject.store.commit([{
        actors: [{ ref: { kind: "lamp", id }, incarnation: loaded?.incarnation ?? "", version: loaded?.version ?? 0 }],
        stale_ids: [],
        choices: [{
          conditions: [],
          rows: [],
          children: [],
          transitions: [],
          replies: [{ msg_id: messageId, reply: { ok: null } }],
          outbox: [],
        }],
      }]);
      await expect(twin).rejects.toBeInstanceOf(CommitError);
    });
  },
);
