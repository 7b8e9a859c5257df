// Implements the engine's store in memory, with the failures of a real database: stale loads, calls that fail before or
// after they took effect, and calls that take effect after they failed. The simulator runs the engine on this store.
// The store passes the same contract suite as the PostgreSQL store. Each call is applied at one instant, so calls never
// interleave. A transaction under an actor's lock applies or loses all its commits when the transaction ends.
import { createConditions, type MemoryRules } from "./memory-conditions.ts";
import { createRows, type MemorySchema, type MemoryTables } from "./memory-rows.ts";
import {
  ABSENT,
  type Choice,
  CommitError,
  type Loaded,
  type LoadedActor,
  type ReplyRow,
  type Store,
  type StoreSession,
  type Unit,
  type UnitResult,
} from "../../actors/engine/store.ts";
import { type ActorRef, type Fault, type Json, refKey } from "../../actors/engine/types.ts";

/** The schema, the conditions and the injected failures of a store. */
export type MemoryStoreOptions = MemorySchema & MemoryRules & {
  /** Called at every load and commit. Here the simulator delays calls, makes them fail, and crashes processes. */
  readonly fate?: Fate;
  /** Called after every call that took effect, with the actors whose rows it wrote. */
  readonly onApplied?: (written: readonly ActorRef[]) => void;
};

/**
 * Decides how each call ends. The caller gets the same failure in three cases: after `lost`, the commit was not
 * applied; after `answer_lost`, it was applied; after `late`, the simulator applies it later.
 */
export type Fate = {
  readonly load: (refs: readonly ActorRef[]) => Promise<"now" | "stale" | "fail">;
  readonly commit: (
    apply: () => void,
    units: readonly Unit[],
  ) => Promise<"ok" | "busy" | "lost" | "answer_lost" | "late">;
};

/** A store whose rows tests may read. */
export type MemoryStore = Store & {
  readonly tables: MemoryTables;
  /** Returns a store on the same rows for another process, with its own failures. */
  readonly seenBy: (fate: Fate) => Store;
};

const HONEST: Fate = { load: () => Promise.resolve("now"), commit: () => Promise.resolve("ok") };

/** Creates an empty store. `now` is the database's clock. */
export function createMemoryStore(options: MemoryStoreOptions): MemoryStore {
  const { tables, previous, wakes, write, remember } = createRows(options);
  const check = createConditions(options, tables);
  const locks = new Map<string, Promise<unknown>>();
  /**
   * Keys of the rows that transactions under an actor's lock have locked. A load of such a row by another transaction
   * fails with `busy`. A unit of another call that uses such a row ends in a conflict.
   */
  const held = new Set<string>();
  let writes: ActorRef[] = [];

  async function load(fate: Fate, refs: readonly ActorRef[], under?: Transaction): Promise<Loaded> {
    const way = await fate.load(refs);
    if (way === "fail" || under?.over === true) throw new CommitError("unknown", null);
    const actors = new Map<string, LoadedActor>();
    for (const ref of refs) {
      const key = refKey(ref);
      if (under !== undefined && held.has(key) && !under.mine.has(key)) throw new CommitError("busy", null);
      if (under !== undefined) held.add(key);
      under?.mine.add(key);
      const current = tables.actors.get(key) ?? ABSENT;
      // Under a lock the row is read for update, so it is never stale.
      const row = way === "stale" && under === undefined ? previous.get(key) ?? current : current;
      actors.set(key, withJoined(ref, row));
    }
    return { now: options.now(), actors };
  }

  function withJoined(ref: ActorRef, row: LoadedActor): LoadedActor {
    const joined = options.joined?.[ref.kind];
    if (joined === undefined || row.state === null) return row;
    return { ...row, state: { ...row.state, ...joined.from(row.state, tables) } };
  }

  async function commit(fate: Fate, units: readonly Unit[]): Promise<readonly UnitResult[]> {
    const way = await fate.commit(() => applyLate(units, NO_LOCKED_ROWS), units);
    if (way === "busy") throw new CommitError("busy", null);
    if (way === "lost" || way === "late") throw new CommitError("unknown", null);
    const results = applyCall(units, NO_LOCKED_ROWS);
    if (way === "answer_lost") throw new CommitError("unknown", null);
    return results;
  }

  function applyLate(units: readonly Unit[], mine: ReadonlySet<string>): void {
    try {
      applyCall(units, mine);
    } catch (error) {
      if (!(error instanceof CommitError)) throw error;
    }
  }

  /**
   * Applies the units, or no unit if a constraint refuses one. If a unit ends in a conflict, or a message of a unit was
   * applied before, the other units are still applied. A dry run returns the same results and writes nothing.
   */
  function applyCall(units: readonly Unit[], mine: ReadonlySet<string>, dry_run = false): UnitResult[] {
    const undo: (() => void)[] = [];
    let kept = false;
    writes = [];
    try {
      const first = tables.transitions.length;
      const results = units.map((unit) => applyUnit(unit, { mine, undo, first }));
      kept = !dry_run;
      return results;
    } finally {
      if (!kept) undo.reverse().forEach((step) => step());
      else options.onApplied?.(writes);
    }
  }

  function applyUnit(unit: Unit, { mine, undo, first }: UnderCall): UnitResult {
    const known = unit.stale_ids.flatMap((id): ReplyRow[] => {
      const reply = tables.seen.get(id);
      return reply === undefined ? [] : [{ msg_id: id, reply }];
    });
    if (known.length > 0) return { status: "known", replies: known };
    const writtenHere = (id: string) => tables.transitions.slice(first).some(({ msg_id }) => msg_id === id);
    for (const { ref, incarnation, version, written_by } of unit.actors) {
      const key = refKey(ref);
      if (written_by !== undefined && !writtenHere(written_by)) return { status: "conflict" };
      if (held.has(key) && !mine.has(key)) return { status: "conflict" };
      const now = tables.actors.get(key) ?? ABSENT;
      if (now.version !== version) return { status: "conflict" };
      if (version > 0 && now.incarnation !== incarnation) return { status: "conflict" };
    }
    let refusal: Fault | null = null;
    for (const [index, choice] of unit.choices.entries()) {
      const verdict = check(choice.conditions, undo);
      if ("fault" in verdict) {
        refusal = verdict.fault;
        continue;
      }
      const filled = fill(choice, verdict.values);
      write(filled, undo);
      writes.push(...filled.rows.map(({ ref }) => ref));
      return { status: "done", choice: index, replies: choice.conditions.length > 0 ? filled.replies : null };
    }
    if (unit.partial === true) return { status: "conflict" };
    const replies = (unit.choices[0]?.replies ?? []).map(({ msg_id }): ReplyRow => {
      if (refusal === null) throw new Error("a unit without choices");
      return { msg_id, reply: { fault: refusal } };
    });
    for (const each of replies) remember(each, undo);
    return { status: "done", choice: -1, replies };
  }

  /**
   * Runs one transaction at a time per actor. The transaction locks the rows that it loads; its commits are applied at
   * its end.
   */
  async function exclusive<T>(fate: Fate, ref: ActorRef, run: (session: StoreSession) => Promise<T>): Promise<T> {
    const key = refKey(ref);
    const before = locks.get(key) ?? Promise.resolve();
    const turn = before.then(() => transaction(fate, run));
    locks.set(key, turn.catch(() => {}));
    return await turn;
  }

  async function transaction<T>(fate: Fate, run: (session: StoreSession) => Promise<T>): Promise<T> {
    const under: Transaction = { mine: new Set(), over: false };
    const { mine } = under;
    const work: { units: readonly Unit[]; results: readonly UnitResult[] }[] = [];
    try {
      const result = await run({
        load: (refs) => load(fate, refs, under),
        commit: (units) => {
          work.push({ units, results: applyCall(units, mine, true) });
          return Promise.resolve(work[work.length - 1]?.results ?? []);
        },
      });
      const units = work.flatMap((each) => each.units);
      const way = await fate.commit(() => applyLate(units, NO_LOCKED_ROWS), units);
      if (way === "busy") throw new CommitError("busy", null);
      if (way === "lost" || way === "late") throw new CommitError("unknown", null);
      // If the results changed, another call took from a budget in the meantime, and nothing is written. In a real
      // database such a call waits for a row lock.
      const foreseen = work.flatMap((each) => each.results);
      if (!sameChoices(applyCall(units, mine, true), foreseen)) throw new CommitError("busy", null);
      applyCall(units, mine);
      if (way === "answer_lost") throw new CommitError("unknown", null);
      return result;
    } finally {
      under.over = true;
      for (const key of mine) held.delete(key);
    }
  }

  function due(kind: string, limit: number): Promise<readonly ActorRef[]> {
    const key = options.kinds.find((each) => each.kind === kind)?.key;
    if (key === undefined) return Promise.resolve([]);
    const now = options.now();
    const refs = [...tables.actors.keys()].filter((name) => {
      const wake = wakes.get(name) ?? null;
      return name.startsWith(`${kind}:`) && wake !== null && wake <= now;
    });
    return Promise.resolve(refs.slice(0, limit).map((name) => ({ kind, id: name.slice(kind.length + 1) })));
  }

  function seenBy(fate: Fate): Store {
    return {
      load: (refs) => load(fate, refs),
      commit: (units) => commit(fate, units),
      exclusive: (ref, run) => exclusive(fate, ref, run),
      due,
      outbox: (limit) => Promise.resolve([...tables.outbox.values()].slice(0, limit)),
      delivered: (ids) => {
        for (const id of ids) tables.outbox.delete(id);
        return Promise.resolve();
      },
    };
  }

  return { tables, seenBy, ...seenBy(options.fate ?? HONEST) };
}

/** A call: the keys that its transaction holds, the undo of its writes, and the index of its first transition. */
type UnderCall = { readonly mine: ReadonlySet<string>; readonly undo: (() => void)[]; readonly first: number };

/** A transaction under an actor's lock: the keys of the rows that it has locked, and whether it has ended. */
type Transaction = { readonly mine: Set<string>; over: boolean };

const NO_LOCKED_ROWS: ReadonlySet<string> = new Set();

function sameChoices(now: readonly UnitResult[], foreseen: readonly UnitResult[]): boolean {
  return now.every((result, index) => {
    const other = foreseen[index];
    if (result.status !== "done" || other?.status !== "done") return result.status === other?.status;
    return result.choice === other.choice;
  });
}

/** Replaces the tokens in a choice by the values that were allocated for them. */
function fill(choice: Choice, values: ReadonlyMap<string, string>): Choice {
  if (values.size === 0) return choice;
  const put = (value: Json): Json => {
    if (typeof value === "string") return values.get(value) ?? value;
    if (Array.isArray(value)) return value.map(put);
    if (value === null || typeof value !== "object" || value instanceof Date) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, put(each)]));
  };
  return put(choice) as Choice;
}
