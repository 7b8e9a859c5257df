// Encodes units (parts of a commit, see Unit) as one statement. For each wave, which is a group of units, the statement
// has a call of commit_units_1. The parts that every message has (actor, transition, reply) are passed as one array per
// column. PostgreSQL reads arrays several times faster than JSON, and does not parse the replies. The parts that only
// some messages have are passed in one JSON document, which omits empty lists.
import type { ChildRow, Choice, ReplyRow, RowWrite, TransitionRow, Unit } from "../../actors/engine/store.ts";
import type { CallCondition } from "../../actors/engine/conditions.ts";
import { wavesOf } from "../../actors/engine/waves.ts";
import { arrayLiteral, longTextArray } from "./sql-array.ts";

/** A commit call: one statement and, for each of its waves, the units that the wave checks and writes together. */
export type CommitCall = {
  /**
   * The name and the text of the statement are the same for every call with this number of waves. The statement returns
   * the answers of its waves as columns.
   */
  readonly name: string;
  readonly sql: string;
  readonly params: readonly unknown[];
  /** The indexes of the units of each wave, in the order of the columns. */
  readonly waves: readonly (readonly number[])[];
};

/** The parameters of commit_units_1. */
const PARAMETERS = 22;

/**
 * Encodes a commit call. PostgreSQL evaluates the columns of a statement in order, so the waves run one after another.
 */
export function commitCall(units: readonly Unit[]): CommitCall {
  const waveOf = wavesOf(units);
  const waves: number[][] = [];
  waveOf.forEach((wave, index) => (waves[wave] ??= []).push(index));
  // The first wave takes the locks of all waves in sorted order, so that two calls cannot deadlock.
  const locks = locksOf(units);
  const params = waves.map((wave, n) => waveParams(wave.flatMap((index) => units[index] ?? []), n === 0 ? locks : []));
  return { ...statementOf(waves.length), params: params.flat(), waves };
}

/** Statements by their number of waves, which the engine limits. */
const statements = new Map<number, Pick<CommitCall, "name" | "sql">>();

function statementOf(waves: number): Pick<CommitCall, "name" | "sql"> {
  const known = statements.get(waves);
  if (known !== undefined) return known;
  const columns = Array.from({ length: waves }, (_, wave) => {
    const places = Array.from({ length: PARAMETERS }, (_, n) => `$${wave * PARAMETERS + n + 1}`);
    return `commit_units_1(${places}) as w${wave}`;
  });
  const statement = { name: `commit_units_1 x${waves}`, sql: `select ${columns}` };
  statements.set(waves, statement);
  return statement;
}

/** Returns the locks of the units. Each lock occurs once, in the strongest mode that a unit needs. */
function locksOf(units: readonly Unit[]): readonly object[] {
  const shared = new Map<string, boolean>();
  for (const each of units.flatMap(({ choices }) => choices.flatMap(({ conditions }) => conditions))) {
    if (each.do === "lock") shared.set(each.key, each.shared && (shared.get(each.key) ?? true));
  }
  return [...shared].map(([key, shared]) => ({ key, shared }));
}

/**
 * Returns the parameters of commit_units_1 for the units of one wave, in order. In an entry, `u` is the index of its
 * unit within the wave, and `c` is the index of its choice within the unit.
 */
function waveParams(units: readonly Unit[], locks: readonly object[]): readonly unknown[] {
  const lists = emptyLists();
  units.forEach((unit, u) => {
    for (const msg_id of unit.stale_ids) lists.messages.push({ u, msg_id });
    for (const { ref: { kind, id }, incarnation, version, written_by, is_new } of unit.actors) {
      if (is_new) continue;
      lists.actors.push({ u, kind, id, incarnation: version > 0 ? incarnation : null, version });
      if (written_by !== undefined) lists.written.push({ u, kind, id, incarnation, version, msg_id: written_by });
    }
    if (needsPlan(unit)) {
      const { partial } = unit;
      lists.plans.push({ u, partial, choices: unit.choices.map(({ conditions }) => conditions.filter(isChecked)) });
    }
    unit.choices.forEach((choice, c) => addChoice(lists, choice, { u, c }));
  });
  const { actors, transitions, replies } = lists;
  return [
    documentOf(units.length, lists, locks),
    arrayLiteral(actors.map((each) => each.u)),
    arrayLiteral(actors.map((each) => each.kind)),
    arrayLiteral(actors.map((each) => each.id)),
    arrayLiteral(actors.map((each) => each.incarnation)),
    arrayLiteral(actors.map((each) => each.version)),
    arrayLiteral(transitions.map((each) => each.u)),
    arrayLiteral(transitions.map((each) => each.c)),
    arrayLiteral(transitions.map((each) => each.actor_kind)),
    arrayLiteral(transitions.map((each) => each.actor_id)),
    arrayLiteral(transitions.map((each) => each.incarnation)),
    arrayLiteral(transitions.map((each) => each.seq)),
    arrayLiteral(transitions.map((each) => each.event)),
    arrayLiteral(transitions.map((each) => each.from_state)),
    arrayLiteral(transitions.map((each) => each.to_state)),
    arrayLiteral(transitions.map((each) => each.msg_id)),
    arrayLiteral(transitions.map((each) => each.at.toISOString())),
    longTextArray(transitions.map((each) => each.audit === null ? null : JSON.stringify(each.audit))),
    arrayLiteral(replies.map((each) => each.u)),
    arrayLiteral(replies.map((each) => each.c)),
    arrayLiteral(replies.map((each) => each.msg_id)),
    longTextArray(replies.map((each) => JSON.stringify(each.reply))),
  ];
}

type Entry = { readonly u: number; readonly c: number };
type Actor = {
  readonly u: number;
  readonly kind: string;
  readonly id: string;
  readonly incarnation: string | null;
  readonly version: number;
};
/** Rows of actors that one SQL statement writes: they have the same operation and kind, and set the same columns. */
type Writes = {
  readonly op: RowWrite["op"];
  readonly kind: string;
  readonly columns: readonly string[];
  readonly has_tokens: boolean;
  readonly entries: object[];
};

/** Child rows of one table that one SQL statement writes. */
type ChildWrites = Pick<ChildRow, "op" | "table" | "key"> & {
  readonly columns: readonly string[];
  readonly has_tokens: boolean;
  readonly entries: object[];
  /** The keys of the rows of an upsert. PostgreSQL refuses a statement that writes one row twice. */
  readonly keys: Set<string>;
};

type Lists = ReturnType<typeof emptyLists>;

function emptyLists() {
  return {
    messages: [] as object[],
    actors: [] as Actor[],
    written: [] as object[],
    plans: [] as object[],
    writes: new Map<string, Writes>(),
    children: [] as ChildWrites[],
    transitions: [] as (Entry & TransitionRow)[],
    replies: [] as (Entry & ReplyRow)[],
    outbox: [] as object[],
  };
}

function addChoice(lists: Lists, choice: Choice, { u, c }: Entry): void {
  const tokens = tokensOf(choice);
  for (const { op, ref, row } of choice.rows) {
    const columns = Object.keys(row);
    const has_tokens = hasToken(row, tokens);
    const like = `${op} ${ref.kind} ${columns} ${has_tokens}`;
    const writes = lists.writes.get(like) ?? { op, kind: ref.kind, columns, has_tokens, entries: [] };
    lists.writes.set(like, writes);
    // No column name begins with a dollar sign.
    writes.entries.push({ $u: u, $c: c, $id: ref.id, ...row });
  }
  let at = 0;
  for (const child of choice.children) {
    at = addChild(lists.children, child, { at, entry: { $u: u, $c: c }, has_tokens: hasToken(child.row, tokens) });
  }
  for (const each of choice.transitions) lists.transitions.push({ u, c, ...each });
  for (const each of choice.replies) lists.replies.push({ u, c, ...each });
  for (const { id, to, message } of choice.outbox) {
    lists.outbox.push({ u, c, id, to_kind: to.kind, to_id: to.id, message });
  }
}

/**
 * Adds a child row to the first entry of `lists` that fits, from the index `at` on. If no entry fits, adds a new entry
 * at the end. In this way, the children of a choice are written in their order, and units with the same children share
 * the statements. Returns the index of the entry.
 */
function addChild(
  lists: ChildWrites[],
  { op, table, key, row }: ChildRow,
  { at, entry, has_tokens }: { readonly at: number; readonly entry: object; readonly has_tokens: boolean },
): number {
  const columns = Object.keys(row);
  const row_key = op === "upsert" ? JSON.stringify(key.map((column) => row[column])) : null;
  const like = String([op, table, key, columns, has_tokens]);
  let place = lists.findIndex((each, index) =>
    index >= at && String([each.op, each.table, each.key, each.columns, each.has_tokens]) === like &&
    (row_key === null || !each.keys.has(row_key))
  );
  if (place < 0) place = lists.push({ op, table, key, columns, has_tokens, entries: [], keys: new Set() }) - 1;
  lists[place]?.entries.push({ ...entry, ...row });
  if (row_key !== null) lists[place]?.keys.add(row_key);
  return place;
}

/** Returns the tokens of a choice: texts in its rows that the commit replaces by the values that it allocates. */
function tokensOf({ conditions }: Choice): ReadonlySet<string> {
  return new Set(conditions.flatMap((each) => each.do === "allocate" ? [each.token] : []));
}

/** Whether a value contains one of these tokens, as a whole string, at any depth. */
function hasToken(value: unknown, tokens: ReadonlySet<string>): boolean {
  if (tokens.size === 0) return false;
  if (typeof value === "string") return tokens.has(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some((each) => hasToken(each, tokens));
}

function needsPlan(unit: Unit): boolean {
  return unit.choices.length > 1 || unit.choices.some(({ conditions }) => conditions.some(isChecked));
}

/**
 * Returns whether the plan of the unit must check the condition. A lock needs no check, because the call takes all its
 * locks first.
 */
function isChecked(condition: CallCondition): boolean {
  return condition.do !== "lock";
}

function documentOf(units: number, lists: Lists, locks: readonly object[]): string {
  const { messages, written, plans, writes, children, outbox } = lists;
  const childWrites = children.map(({ keys: _keys, ...each }) => each);
  const rare = { messages, locks, written, plans, rows: [...writes.values()], children: childWrites, outbox };
  return JSON.stringify({ units, ...Object.fromEntries(Object.entries(rare).filter(([, list]) => list.length > 0)) });
}
