// The words of the engine: what an actor is, what a message is, and what a step may ask for.
import type { Fault } from "../../src/contract/fault.ts";
import type { AuditActor } from "../../src/contract/audit.ts";
import type { Condition, Offsets } from "./conditions.ts";

export type { Condition, Fault, Offsets };

/** Anything that survives JSON. Dates are allowed in rows and become RFC 3339 text on the way out. */
export type Json = unknown;

/** Names one actor: its kind and the key of its row. */
export type ActorRef<K extends string = string> = { readonly kind: K; readonly id: string };

/** A message is data with a type. Ids, codes and random bytes travel in it; the time never does. */
export type Message = { readonly type: string; readonly [field: string]: Json };

/** The state of an actor is its row: the columns of its table, tagged by `state`. */
export type ActorState = { readonly state: string };

/** Who caused a message, for the audit chain. */
export type Origin = { readonly actor: AuditActor; readonly request_id: string | null };
/** The server itself: timers, tells and its own upkeep. */
export const SYSTEM: Origin = { actor: { kind: "system" }, request_id: null };

/** A message on its way to one actor. `id` is a UUIDv7; the same id never has two effects. */
export type Envelope = {
  readonly id: string;
  readonly to: ActorRef;
  readonly message: Message;
  readonly origin: Origin;
  /** False when an earlier attempt may have committed, so that the commit call must look the id up first. */
  readonly fresh: boolean;
};

/** What the sender hears: the view of what was written, or the refusal. Both are stored under the message id. */
export type Outcome<R = Json> = { readonly ok: true; readonly reply: R } | {
  readonly ok: false;
  readonly fault: Fault;
};

// ---------------------------------------------------------------------------------------------- parts of a decision

/** The audit entry of a transition, committed with it. Document 4, section 6. Never holds a secret. */
export type AuditNote = {
  readonly part: "audit";
  readonly action: string;
  readonly resource: string | null;
  readonly payload: Json;
};

/** Writes to rows that belong to this actor but are no actors themselves (keys, satellites). */
export type ChildWrite =
  | { readonly part: "child"; readonly op: "insert"; readonly table: string; readonly row: Json }
  | {
    readonly part: "child";
    readonly op: "upsert";
    readonly table: string;
    readonly key: readonly string[];
    readonly row: Json;
  }
  | { readonly part: "child"; readonly op: "delete"; readonly table: string; readonly match: Json };

/** Delivered later, at least once and in any order; carries its whole meaning. */
export type Tell = { readonly part: "tell"; readonly to: ActorRef; readonly message: Message };

/** Another actor steps in the same commit; its refusal refuses the whole. */
export type With = { readonly part: "with"; readonly to: ActorRef; readonly message: Message };

/** What the sender hears instead of the view of the new state. */
export type Reply = { readonly part: "reply"; readonly reply: Json };

/** Applied when a condition of the first choice does not hold. */
export type Otherwise<S> = { readonly part: "otherwise"; readonly out: Out<S> };

/** What a decision may ask for beside the next state. */
export type Part<S> = AuditNote | ChildWrite | Tell | With | Condition | Reply | Otherwise<S>;

/** The decision of one cell: nothing happens, a refusal, or the next state (null removes the row) with its parts. */
export type Out<S> =
  | { readonly out: "ignore" }
  | { readonly out: "refuse"; readonly fault: Fault }
  | { readonly out: "go"; readonly next: S | null; readonly parts: readonly Part<S>[] };

/** One kind of actor: its table, its deadline, its view, and where its rows are. */
export type Behavior<S extends ActorState = ActorState, M extends Message = Message> = {
  readonly kind: string;
  /** The SQL table of its rows and its key column. */
  readonly table: string;
  readonly key: string;
  /** A view of the table with joined columns, which steps may read; writes to those columns have no effect. */
  readonly from?: string;
  /** Pure and total: no clock, no random, no I/O. */
  readonly step: (state: S | null, message: M, now: Date) => Out<S>;
  /** When a `tick` is wanted, or null. Pure. */
  readonly deadline: (state: S) => Date | null;
  /** What the sender of a message hears. */
  readonly view: (state: S) => Json;
  /**
   * The 409 that a broken constraint of this kind's tables means, by constraint name. <column> in its text stands for what
   * the refused row holds there.
   */
  readonly constraints?: Readonly<Record<string, Fault>>;
};

/** A behavior with its types erased, as the engine's registry holds it. */
// deno-lint-ignore no-explicit-any -- a registry holds behaviors of different states; each is type-checked where it is defined
export type AnyBehavior = Behavior<any, any>;

/** The text form of a ref, used as a map key and as a lock name. */
export function refKey(ref: ActorRef): string {
  return `${ref.kind}:${ref.id}`;
}
