// Keeps the rows of the store in memory, with the unique constraints of a schema. Every write adds to `undo` a function
// that reverses the write.
import {
  ABSENT,
  type ChildRow,
  type Choice,
  CommitError,
  type LoadedActor,
  type OutboxRow,
  type ReplyRow,
  type StoredReply,
  type TransitionRow,
} from "../../actors/engine/store.ts";
import { type ActorRef, type Json, refKey } from "../../actors/engine/types.ts";

type Row = Record<string, Json>;

/** All rows. Tests may read them. */
export type MemoryTables = {
  /** Actor rows by refKey, child rows by table. */
  readonly actors: Map<string, LoadedActor>;
  readonly children: Map<string, Row[]>;
  readonly transitions: TransitionRow[];
  readonly seen: Map<string, StoredReply>;
  readonly outbox: Map<string, OutboxRow>;
  readonly budgets: Map<string, { remaining: number | null; expires_at: Date | null }>;
  /** Free values of each pool: integers in ascending order. */
  readonly pools: Map<string, number[]>;
};

/**
 * A UNIQUE constraint: no two rows have the same values in all of these columns. The constraint ignores rows
 * with a null in one of the columns.
 */
export type UniqueRule = { readonly name: string; readonly table: string; readonly columns: readonly string[] };

/** The columns that a load of one kind joins from other tables. `from` returns their values for a row. */
export type Joined = { readonly columns: readonly string[]; readonly from: (row: Row, tables: MemoryTables) => Row };

/** The schema: kinds, unique constraints, joined columns. */
export type MemorySchema = {
  readonly kinds: readonly { readonly kind: string; readonly table: string; readonly key: string }[];
  readonly unique?: readonly UniqueRule[];
  /** Joined columns by kind. Writes to them have no effect. See Behavior.from. */
  readonly joined?: Readonly<Record<string, Joined>>;
};

/**
 * Creates empty tables. In the result, `previous` has the state of each actor before its last write, and `wakes` the
 * time of its next tick.
 */
export function createRows(schema: MemorySchema) {
  const tables: MemoryTables = {
    actors: new Map(),
    children: new Map(),
    transitions: [],
    seen: new Map(),
    outbox: new Map(),
    budgets: new Map(),
    pools: new Map(),
  };
  const previous = new Map<string, LoadedActor>();
  const wakes = new Map<string, Date | null>();

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
    if (op === "delete") {
      tables.actors.delete(key);
      return;
    }
    const { incarnation, version, wake_at, ...columns } = row;
    for (const column of schema.joined?.[ref.kind]?.columns ?? []) delete columns[column];
    const state: Row = op === "insert" ? columns : { ...before?.state, ...columns };
    const life = String(op === "insert" ? incarnation : before?.incarnation);
    tables.actors.set(key, { state, incarnation: life, version: Number(version) });
    wakes.set(key, (wake_at ?? null) as Date | null);
    const table = schema.kinds.find((each) => each.kind === ref.kind)?.table ?? ref.kind;
    if (schema.unique?.some((rule) => rule.table === table) !== true) return;
    const prefix = `${ref.kind}:`;
    const siblings = [...tables.actors].filter(([other]) => other.startsWith(prefix)).map(([, each]) =>
      each.state as Row
    );
    checkUnique(table, state, siblings);
  }

  function checkUnique(table: string, row: Row, rows: readonly Row[]): void {
    for (const rule of schema.unique ?? []) {
      if (rule.table !== table) continue;
      if (rule.columns.some((column) => (row[column] ?? null) === null)) continue;
      const twins = rows.filter((other) => rule.columns.every((column) => equal(other[column], row[column])));
      if (twins.length > 1) throw new CommitError("constraint", rule.name);
    }
  }

  function remember({ msg_id, reply }: ReplyRow, undo: (() => void)[]): void {
    if (tables.seen.has(msg_id)) throw new CommitError("constraint", "seen_pkey");
    tables.seen.set(msg_id, reply);
    undo.push(() => tables.seen.delete(msg_id));
  }

  return { tables, previous, wakes, write, remember };
}

function equal(a: Json, b: Json): boolean {
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
  return a === b;
}
