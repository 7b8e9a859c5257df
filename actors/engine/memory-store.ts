// The store on plain maps, with the failures of a real database: stale loads, calls that fail before or after they took
// effect, and calls that take effect after they failed. The simulator runs the engine on it; the contract suite that
// PostgreSQL's store passes keeps it honest. A call is applied at one instant, so it is serial by construction; what
// runs under an actor's lock is applied at the end, as a transaction is, and may be lost there.
import { planted } from "./planted.ts";
import {
  type CallCondition,
  type ChildRow,
  type Choice,
  CommitError,
  type Loaded,
  type LoadedActor,
  type OutboxRow,
  type ReplyRow,
  type Store,
  type StoredReply,
  type StoreSession,
  type TransitionRow,
  type Unit,
  type UnitResult,
} from "./store.ts";
import { type ActorRef, type Fault, type Json, refKey } from "./types.ts";

type Row = Record<string, Json>;

/** A UNIQUE rule: rows whose named columns are all set must differ in them. */
export type UniqueRule = { readonly name: string; readonly table: string; readonly columns: readonly string[] };

/** What the database knows by its schema: kinds, unique rules, guards, effects. */
export type MemoryStoreOptions = {
  readonly now: () => Date;
  readonly kinds: readonly { readonly kind: string; readonly table: string; readonly key: string }[];
  readonly unique?: readonly UniqueRule[];
  readonly guards?: Readonly<Record<string, (args: Json, tables: MemoryTables) => boolean | string>>;
  /** An effect returns how to take it back. */
  readonly effects?: Readonly<Record<string, (args: Json, tables: MemoryTables) => () => void>>;
  /** Columns that a kind's loads join from elsewhere; writes to them have no effect. See Behavior.from. */
  readonly joined?: Readonly<Record<string, Joined>>;
  /** Called around every call; the simulator delays, fails and crashes here. */
  readonly fate?: Fate;
  /** Told after every call that took effect which actors' rows it wrote. */
  readonly onApplied?: (written: readonly ActorRef[]) => void;
};

/** The joined columns of one kind, and their values for one row. */
export type Joined = { readonly columns: readonly string[]; readonly from: (row: Row, tables: MemoryTables) => Row };

/** What becomes of one call. `late` is applied by the simulator when it likes, though the caller saw a failure. */
export type Fate = {
  readonly load: (refs: readonly ActorRef[]) => Promise<"now" | "stale" | "fail">;
  readonly commit: (
    apply: () => void,
    units: readonly Unit[],
  ) => Promise<"ok" | "busy" | "lost" | "answer_lost" | "late">;
};

/** The rows themselves, for tests to look at. */
export type MemoryTables = {
  /** Actor rows by refKey, child rows by table. */
  readonly actors: Map<string, LoadedActor>;
  readonly children: Map<string, Row[]>;
  readonly transitions: TransitionRow[];
  readonly seen: Map<string, StoredReply>;
  readonly outbox: Map<string, OutboxRow>;
  readonly budgets: Map<string, { remaining: number | null; expires_at: Date | null }>;
  /** Free values of each pool, as sorted integers. */
  readonly pools: Map<string, number[]>;
};

/** A store whose rows can be looked at. */
export type MemoryStore = Store & {
  readonly tables: MemoryTables;
  /** The same rows as another process sees them, with a fate of its own. */
  readonly seenBy: (fate: Fate) => Store;
};

const HONEST: Fate = { load: () => Promise.resolve("now"), commit: () => Promise.resolve("ok") };

/** Creates an empty store. `now` is the database's clock. */
export function createMemoryStore(options: MemoryStoreOptions): MemoryStore {
  const tables: MemoryTables = {
    actors: new Map(),
    children: new Map(),
    transitions: [],
    seen: new Map(),
    outbox: new Map(),
    budgets: new Map(),
    pools: new Map(),
  };
  /** What each actor was before its last write: a load may answer with it. */
  const previous = new Map<string, LoadedActor>();
  /** When each row wants its tick. */
  const wakes = new Map<string, Date | null>();
  const locks = new Map<string, Promise<unknown>>();
  /** Rows that a transaction under a lock holds: for everybody else they are a lost race. */
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
      // A row that is read for update is never old.
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
    const way = await fate.commit(() => applyLate(units, NOBODY), units);
    if (way === "busy") throw new CommitError("busy", null);
    if (way === "lost" || way === "late") throw new CommitError("unknown", null);
    const results = applyCall(units, NOBODY);
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

  /** All units or, when a constraint is broken, none. A trial run answers as the call would and writes nothing. */
  function applyCall(units: readonly Unit[], mine: ReadonlySet<string>, trial = false): UnitResult[] {
    const undo: (() => void)[] = [];
    let kept = false;
    writes = [];
    try {
      const results = units.map((unit) => applyUnit(unit, mine, undo));
      kept = !trial;
      return results;
    } finally {
      if (!kept) undo.reverse().forEach((step) => step());
      else options.onApplied?.(writes);
    }
  }

  function applyUnit(unit: Unit, mine: ReadonlySet<string>, undo: (() => void)[]): UnitResult {
    const known = unit.stale_ids.flatMap((id): ReplyRow[] => {
      const reply = tables.seen.get(id);
      return reply === undefined ? [] : [{ msg_id: id, reply }];
    });
    if (known.length > 0) return { status: "known", replies: known };
    for (const { ref, incarnation, version } of unit.actors) {
      const key = refKey(ref);
      if (held.has(key) && !mine.has(key)) return { status: "conflict" };
      const now = tables.actors.get(key) ?? ABSENT;
      const same_version = now.version === version || planted("version_not_compared");
      const same_life = version === 0 || now.incarnation === incarnation || planted("incarnation_not_compared");
      if (!same_version || !same_life) return { status: "conflict" };
    }
    let refusal: Fault | null = null;
    for (const [index, choice] of unit.choices.entries()) {
      const verdict = conditionsOf(choice.conditions, undo);
      if ("fault" in verdict) {
        refusal = verdict.fault;
        continue;
      }
      const filled = fill(choice, verdict.values);
      write(filled, undo);
      return { status: "done", choice: index, replies: choice.conditions.length > 0 ? filled.replies : null };
    }
    const replies = (unit.choices[0]?.replies ?? []).map(({ msg_id }): ReplyRow => {
      if (refusal === null) throw new Error("a unit without choices");
      return { msg_id, reply: { fault: refusal } };
    });
    for (const each of replies) remember(each, undo);
    return { status: "done", choice: -1, replies };
  }

  function conditionsOf(
    conditions: readonly CallCondition[],
    undo: (() => void)[],
  ): { readonly fault: Fault } | { readonly values: ReadonlyMap<string, string> } {
    for (const each of conditions) {
      if (each.do === "guard" && !planted("guard_not_asked")) {
        const check = options.guards?.[each.name];
        if (check === undefined) throw new Error(`no guard ${each.name}`);
        const verdict = check(each.args, tables);
        if (typeof verdict === "string" && verdict !== "true") {
          return { fault: { ...each.fault, message: each.fault.message.replaceAll("<WHAT>", verdict) } };
        }
        if (verdict === false) return { fault: each.fault };
      }
      if (each.do === "take") {
        const budget = tables.budgets.get(each.budget);
        const enough = budget !== undefined && (budget.remaining === null || budget.remaining >= each.amount);
        if (!enough || (budget.expires_at !== null && budget.expires_at <= options.now())) return { fault: each.fault };
      }
      if (each.do === "allocate" && !tables.pools.get(each.pool)?.some((spot) => isWithin(spot, each))) {
        return { fault: each.fault };
      }
    }
    const values = new Map<string, string>();
    for (const each of conditions) {
      if (each.do === "take") spend(each.budget, -each.amount, undo);
      if (each.do === "give") spend(each.budget, each.amount, undo);
      if (each.do === "allocate") values.set(each.token, allocate(each, undo));
      if (each.do === "effect") {
        const run = options.effects?.[each.name];
        if (run === undefined) throw new Error(`no effect ${each.name}`);
        undo.push(run(each.args, tables));
      }
      if (each.do === "release") releaseValue(each.pool, Number(each.value), undo);
    }
    return { values };
  }

  function spend(name: string, by: number, undo: (() => void)[]): void {
    const budget = tables.budgets.get(name);
    if (budget === undefined || budget.remaining === null) return;
    budget.remaining += by;
    undo.push(() => {
      if (budget.remaining !== null) budget.remaining -= by;
    });
  }

  function allocate(from: Extract<CallCondition, { do: "allocate" }>, undo: (() => void)[]): string {
    const free = tables.pools.get(from.pool) ?? [];
    const at = free.findIndex((spot) => isWithin(spot, from));
    if (at === -1) throw new CommitError("constraint", "pool_exhausted");
    const [value] = free.splice(at, 1);
    undo.push(() => free.splice(at, 0, value!));
    return String(value);
  }

  function releaseValue(pool: string, value: number, undo: (() => void)[]): void {
    const free = tables.pools.get(pool);
    if (free === undefined) throw new Error(`no pool ${pool}`);
    if (free.includes(value)) throw new CommitError("constraint", "pool_value_free_already");
    const before = [...free];
    free.push(value);
    free.sort((a, b) => a - b);
    undo.push(() => free.splice(0, free.length, ...before));
  }

  function write(choice: Choice, undo: (() => void)[]): void {
    for (const { op, ref, row } of choice.rows) writeActor(op, ref, row, undo);
    for (const child of choice.children) {
      if (child.table === "budget") {
        writeBudget(child, undo);
        continue;
      }
      const rows = tables.children.get(child.table) ?? [];
      tables.children.set(child.table, rows);
      const before = [...rows];
      undo.push(() => rows.splice(0, rows.length, ...before));
      const same = (row: Row) => child.key.every((column) => equal(row[column], child.row[column]));
      const replaced = child.op === "insert" ? undefined : rows.find(same);
      if (child.op !== "insert") rows.splice(0, rows.length, ...rows.filter((row) => !same(row)));
      if (child.op !== "delete") {
        const row = { ...replaced, ...child.row };
        rows.push(row);
        checkUnique(child.table, row, rows);
      }
    }
    for (const row of choice.transitions) {
      tables.transitions.push(row);
      undo.push(() => tables.transitions.splice(tables.transitions.indexOf(row), 1));
    }
    for (const each of choice.replies) remember(each, undo);
    for (const row of choice.outbox) {
      tables.outbox.set(row.id, row);
      undo.push(() => tables.outbox.delete(row.id));
    }
  }

  function writeBudget(child: ChildRow, undo: (() => void)[]): void {
    const name = String(child.row["name"]);
    const before = tables.budgets.get(name);
    undo.push(() => {
      if (before === undefined) tables.budgets.delete(name);
      else tables.budgets.set(name, before);
    });
    if (child.op === "delete") tables.budgets.delete(name);
    else {
      const { remaining, expires_at } = child.row as { remaining: number | null; expires_at: Date | null };
      tables.budgets.set(name, { remaining, expires_at });
    }
  }

  function writeActor(op: "insert" | "update" | "delete", ref: ActorRef, row: Row, undo: (() => void)[]): void {
    const key = refKey(ref);
    const before = tables.actors.get(key);
    const older = previous.get(key);
    const wake = wakes.get(key);
    undo.push(() => {
      if (wake === undefined) wakes.delete(key);
      else wakes.set(key, wake);
      if (before === undefined) tables.actors.delete(key);
      else tables.actors.set(key, before);
      if (older === undefined) previous.delete(key);
      else previous.set(key, older);
    });
    previous.set(key, before ?? ABSENT);
    writes.push(ref);
    if (op === "delete") {
      tables.actors.delete(key);
      return;
    }
    const { incarnation, version, wake_at, ...columns } = row;
    for (const column of options.joined?.[ref.kind]?.columns ?? []) delete columns[column];
    const state: Row = op === "insert" ? columns : { ...before?.state, ...columns };
    const life = String(op === "insert" ? incarnation : before?.incarnation);
    tables.actors.set(key, { state, incarnation: life, version: Number(version) });
    wakes.set(key, (wake_at ?? null) as Date | null);
    const table = options.kinds.find((each) => each.kind === ref.kind)?.table ?? ref.kind;
    if (options.unique?.some((rule) => rule.table === table) !== true) return;
    const prefix = `${ref.kind}:`;
    const siblings = [...tables.actors].filter(([other]) => other.startsWith(prefix)).map(([, each]) =>
      each.state as Row
    );
    checkUnique(table, state, siblings);
  }

  function checkUnique(table: string, row: Row, rows: readonly Row[]): void {
    for (const rule of options.unique ?? []) {
      if (rule.table !== table) continue;
      if (rule.columns.some((column) => (row[column] ?? null) === null)) continue;
      const twins = rows.filter((other) => rule.columns.every((column) => equal(other[column], row[column])));
      if (twins.length > 1) throw new CommitError("constraint", rule.name);
    }
  }

  function remember({ msg_id, reply }: ReplyRow, undo: (() => void)[]): void {
    if (planted("refusal_not_stored") && "fault" in reply) return;
    if (tables.seen.has(msg_id) && !planted("no_lookup")) throw new CommitError("constraint", "seen_pkey");
    tables.seen.set(msg_id, reply);
    undo.push(() => tables.seen.delete(msg_id));
  }

  /** One after another per actor. The rows it loads are held; what it commits is tried now and applied at its end. */
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
      const way = await fate.commit(() => applyLate(units, NOBODY), units);
      if (way === "busy") throw new CommitError("busy", null);
      if (way === "lost" || way === "late") throw new CommitError("unknown", null);
      // Somebody took from a budget in between, which the row lock of a real database forbids: nothing is written.
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

/** A transaction under an actor's lock: the rows it holds, and whether it has ended. */
type Transaction = { readonly mine: Set<string>; over: boolean };

const NOBODY: ReadonlySet<string> = new Set();

function sameChoices(now: readonly UnitResult[], foreseen: readonly UnitResult[]): boolean {
  return now.every((result, index) => {
    const other = foreseen[index];
    if (result.status !== "done" || other?.status !== "done") return result.status === other?.status;
    return result.choice === other.choice;
  });
}

const ABSENT: LoadedActor = { state: null, incarnation: "", version: 0 };

function equal(a: Json, b: Json): boolean {
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
  return a === b;
}

function isWithin(spot: number, { low, high }: { readonly low?: number; readonly high?: number }): boolean {
  return (low === undefined || spot >= low) && (high === undefined || spot <= high);
}

/** Puts allocated values where their tokens stand. */
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
