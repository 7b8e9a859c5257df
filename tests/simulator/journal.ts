// Records the true history of a run: every row of every actor, every transition, and the clients' requests and answers.
// Stamps show the order in which the rows and transitions took effect.
import type { LoadedActor, TransitionRow } from "../../actors/engine/store.ts";
import type { MemoryTables } from "../support/memory-rows.ts";
import { type ActorRef, type Fault, type Json, type Message, refKey } from "../../actors/engine/types.ts";
import { hash32 } from "./chance.ts";

/** A moment: `stamp` orders everything, `ms` is the database's clock. */
export type Moment = { readonly stamp: number; readonly ms: number };

/** A request of a client. `out` is null until the client gets an answer or gives up. */
export type Operation = {
  readonly msg_id: string;
  readonly command: number;
  readonly to: ActorRef;
  readonly message: Message;
  readonly request_id: string;
  /** The process that got the first attempt. The processes of a run are numbered in the order of their starts. */
  readonly engine: number;
  readonly sent: Moment;
  attempts: number;
  answered: Moment | null;
  out: "ok" | "refused" | "unknown" | null;
  reply: Json;
  fault: Fault | null;
};

/** An actor's row from this moment on; null when the actor has no row. */
export type RowVersion = { readonly since: Moment; readonly row: LoadedActor | null };

export type StampedTransition = TransitionRow & { readonly applied: Moment };

export type Journal = ReturnType<typeof createJournal>;

export function createJournal(now_ms: () => number) {
  const operations: Operation[] = [];
  const rows = new Map<string, RowVersion[]>();
  const transitions: StampedTransition[] = [];
  /** The actors that each commit wrote. */
  const calls: { readonly at: Moment; readonly keys: readonly string[] }[] = [];
  /** Changes of placements. `placed` is true when an instance was placed on the node, false when it was removed. */
  const placements: { readonly at: Moment; readonly node: string; readonly placed: boolean }[] = [];
  const bugs: string[] = [];
  let stamp = 0;
  let trace = 0;

  function moment(): Moment {
    return { stamp: ++stamp, ms: now_ms() };
  }

  /** Adds a fact to the fingerprint of the run. */
  function note(fact: string): void {
    trace = hash32(fact, trace);
  }

  /** Records the rows that a call has just written. */
  function applied(tables: MemoryTables, written: readonly ActorRef[]): void {
    const at = moment();
    for (const row of tables.transitions.slice(transitions.length)) {
      transitions.push({ ...row, applied: at });
      note(`${at.ms} ${row.actor_id} ${row.seq} ${row.event} ${row.to_state} ${row.msg_id}`);
    }
    const keys = [...new Set(written.map(refKey))];
    for (const key of keys) {
      const versions = rows.get(key) ?? [];
      rows.set(key, versions);
      versions.push({ since: at, row: tables.actors.get(key) ?? null });
    }
    if (keys.length > 0) calls.push({ at, keys });
  }

  return {
    operations,
    rows,
    transitions,
    calls,
    placements,
    bugs,
    moment,
    note,
    applied,
    trace: () => trace,
  };
}
