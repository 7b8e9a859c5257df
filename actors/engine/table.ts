// A transition table is total: every message has a cell for every state, and a missing cell does not compile. A cell is
// a named function, "ignore", "missing" (404), or the exact text of a 409, in which <STATE> is replaced by the state's
// name.
import { conflict, NOT_FOUND } from "../../src/contract/fault.ts";
import type { ActorState, Message, Out } from "./types.ts";

/** The columns of a transition table: the states of S, and "absent" for an actor without a record. */
export type Column<S extends ActorState> = S["state"] | "absent";

/** The state of an actor in one column of the table; null for "absent". */
export type At<S extends ActorState, C extends string> = C extends "absent" ? null : Extract<S, { state: C }>;

/** The message of M with one type. */
export type Of<M extends Message, T extends string> = Extract<M, { type: T }>;

type Text = string & Record<never, never>;

/** The reaction to one message in one state. */
export type Cell<S extends ActorState, C extends string, M extends Message> =
  | "ignore"
  | "missing"
  | Text
  | ((state: At<S, C>, message: M, now: Date) => Out<S>);

/** A transition table. It has a row for each message and a column for each state. No cell may be missing. */
export type Table<S extends ActorState, M extends Message> = {
  readonly [T in M["type"]]: { readonly [C in Column<S>]: Cell<S, C, Of<M, T>> };
};

/** Runs the cell for this state and message. Throws if the table has no row for the message: a bug of the sender. */
export function runTable<S extends ActorState, M extends Message>(
  table: Table<S, M>,
  state: S | null,
  message: M,
  now: Date,
): Out<S> {
  const rows = table as Readonly<Record<string, Readonly<Record<string, AnyCell<S>>>>>;
  const column = state === null ? "absent" : state.state;
  const cell = rows[message.type]?.[column];
  if (cell === undefined) throw new Error(`no cell for message ${message.type} in state ${column}`);
  if (typeof cell === "function") return cell(state, message, now);
  if (cell === "ignore") return { out: "ignore" };
  if (cell === "missing") return { out: "refuse", fault: NOT_FOUND };
  return { out: "refuse", fault: conflict(cell.replaceAll("<STATE>", column)) };
}

type AnyCell<S> = string | ((state: S | null, message: Message, now: Date) => Out<S>);

/** Prints the table as text, one block per message, for snapshots. */
export function printTable(table: Readonly<Record<string, Readonly<Record<string, unknown>>>>): string {
  const lines: string[] = [];
  for (const [message, row] of Object.entries(table)) {
    lines.push(message);
    const width = Math.max(...Object.keys(row).map((state) => state.length));
    for (const [state, cell] of Object.entries(row)) {
      lines.push(`  ${state.padEnd(width)}  ${typeof cell === "function" ? `-> ${cell.name}` : String(cell)}`);
    }
  }
  return lines.join("\n");
}
