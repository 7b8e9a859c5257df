// Encodes a set of units as the parameters of commit_units_1. The parts that every message has (actor, transition,
// reply) are passed as one array per column: PostgreSQL reads arrays several times faster than JSON, and does not parse
// the replies. The parts that only some messages have are passed in one JSON document, which omits empty lists.
import type { Choice, ReplyRow, RowWrite, TransitionRow, Unit } from "../../actors/engine/store.ts";
import { arrayLiteral, longTextArray } from "./sql-array.ts";

export const COMMIT_SQL = `select commit_units_1(${Array.from({ length: 22 }, (_, n) => `$${n + 1}`)}) as answer`;

/**
 * Returns the parameters of COMMIT_SQL, in order. `u` is the index of the unit that an entry belongs to, `c` the index
 * of the choice within the unit.
 */
export function commitParams(units: readonly Unit[]): readonly unknown[] {
  const lists = emptyLists();
  units.forEach((unit, u) => {
    for (const msg_id of unit.stale_ids) lists.messages.push({ u, msg_id });
    for (const { ref, incarnation, version } of unit.actors) {
      lists.actors.push({ u, kind: ref.kind, id: ref.id, incarnation: version > 0 ? incarnation : null, version });
    }
    if (hasConditions(unit)) lists.plans.push({ u, choices: unit.choices.map(({ conditions }) => conditions) });
    unit.choices.forEach((choice, c) => addChoice(lists, choice, { u, c }));
  });
  const { actors, transitions, replies } = lists;
  return [
    documentOf(units.length, lists),
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
/** Row writes of one operation and kind that set the same columns. One SQL statement writes them all. */
type Writes = {
  readonly op: RowWrite["op"];
  readonly kind: string;
  readonly columns: readonly string[];
  readonly entries: object[];
};

type Lists = ReturnType<typeof emptyLists>;

function emptyLists() {
  return {
    messages: [] as object[],
    locks: [] as object[],
    actors: [] as Actor[],
    plans: [] as object[],
    writes: new Map<string, Writes>(),
    children: [] as object[],
    transitions: [] as (Entry & TransitionRow)[],
    replies: [] as (Entry & ReplyRow)[],
    outbox: [] as object[],
  };
}

function addChoice(lists: Lists, choice: Choice, { u, c }: Entry): void {
  for (const each of choice.conditions) {
    if (each.do === "lock") lists.locks.push({ key: each.key, shared: each.shared });
  }
  for (const { op, ref, row } of choice.rows) {
    const columns = Object.keys(row);
    const like = `${op} ${ref.kind} ${columns}`;
    const writes = lists.writes.get(like) ?? { op, kind: ref.kind, columns, entries: [] };
    lists.writes.set(like, writes);
    // No column name begins with a dollar sign.
    writes.entries.push({ $u: u, $c: c, $id: ref.id, ...row });
  }
  for (const each of choice.children) lists.children.push({ u, c, n: lists.children.length, ...each });
  for (const each of choice.transitions) lists.transitions.push({ u, c, ...each });
  for (const each of choice.replies) lists.replies.push({ u, c, ...each });
  for (const { id, to, message } of choice.outbox) {
    lists.outbox.push({ u, c, id, to_kind: to.kind, to_id: to.id, message });
  }
}

function hasConditions(unit: Unit): boolean {
  return unit.choices.length > 1 || unit.choices.some((choice) => choice.conditions.length > 0);
}

function documentOf(units: number, { messages, locks, plans, writes, children, outbox }: Lists): string {
  const rare = { messages, locks, plans, rows: [...writes.values()], children, outbox };
  return JSON.stringify({ units, ...Object.fromEntries(Object.entries(rare).filter(([, list]) => list.length > 0)) });
}
