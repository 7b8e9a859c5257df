// The types of the engine: actors, messages, decisions.
import type { AuditAction } from "../../src/contract/audit-actions.ts";
import type { Fault } from "../../src/contract/fault.ts";
import type { AuditActor } from "../../src/contract/audit.ts";
import type { Condition, Offsets } from "./conditions.ts";

export type { Condition, Fault, Offsets };

/** Any JSON value. Rows may contain dates, which become RFC 3339 text on the wire. */
export type Json = unknown;

/** The name of one actor: its kind and the key of its row. */
export type ActorRef<K extends string = string> = { readonly kind: K; readonly id: string };

/** A message: data with a type. It carries ids, codes and random bytes, but never the current time. */
export type Message = { readonly type: string; readonly [field: string]: Json };

/** The state of an actor: the columns of its row, tagged by `state`. */
export type ActorState = { readonly state: string };

/** The cause of a message, for the audit chain. */
export type Origin = { readonly actor: AuditActor; readonly request_id: string | null };
/** The server itself: timers, tells and maintenance. */
export const SYSTEM: Origin = { actor: { kind: "system" }, request_id: null };

/** A message with its receiver. `id` is a UUIDv7. A retry with the same id has no further effect. */
export type Envelope = {
  readonly id: string;
  readonly to: ActorRef;
  readonly message: Message;
  readonly origin: Origin;
  /** False when an earlier attempt may have committed the message. The commit call then looks up the id first. */
  readonly fresh: boolean;
  /**
   * True when an earlier commit call did not write the decision. The next commit call then also gets the alternatives
   * of the decision (see Otherwise).
   */
  readonly alternatives?: true;
};

/**
 * The answer to a message: the reply (by default the view of the written state), or the refusal. The commit stores the
 * answer under the message id.
 */
export type Outcome<R = Json> = { readonly ok: true; readonly reply: R } | {
  readonly ok: false;
  readonly fault: Fault;
};

// ---------------------------------------------------------------------------------------------- parts of a decision

/** The audit entry of a transition, committed with it. It never contains a secret. */
export type AuditNote = {
  readonly part: "audit";
  readonly action: AuditAction;
  readonly resource: string | null;
  readonly payload: Json;
};

/** A write to rows that belong to this actor but are not actors themselves, for example the disks of an instance. */
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

/** A message to another actor, delivered after the commit: at least once, in any order. */
export type Tell = {
  readonly part: "tell";
  readonly to: ActorRef;
  readonly message: Message;
  /**
   * True if the receiver's decision may join the commit. Even then, the message is delivered after the commit in these
   * cases:
   * - The receiver refuses the message or throws an error.
   * - The receiver's decision has a condition that can fail.
   * - An earlier attempt failed or lost a race. So a busy receiver delays the sender's commit by at most one attempt.
   */
  readonly joins?: boolean;
};

/** A message to another actor, applied in the same commit. If that actor refuses, the whole unit is refused. */
export type With = {
  readonly part: "with";
  readonly to: ActorRef;
  readonly message: Message;
  /**
   * True if the actor's id was created for this message. Such an actor has no row yet. In the first attempt, the engine
   * does not load this actor.
   */
  readonly isNew?: boolean;
};

/** A reply instead of the view of the new state. */
export type Reply = { readonly part: "reply"; readonly reply: Json };

/**
 * The alternative to the decision that contains this part. The commit applies the alternative if a condition of that
 * decision does not hold.
 */
export type Otherwise<S> = { readonly part: "otherwise"; readonly out: Out<S> };

/** The parts of a decision in addition to the next state. */
export type Part<S> = AuditNote | ChildWrite | Tell | With | Condition | Reply | Otherwise<S>;

/**
 * A decision: ignore the message, refuse the message, or go to the next state. A decision to go may contain parts. If
 * its next state is null, the commit removes the row.
 */
export type Out<S> =
  | { readonly out: "ignore" }
  | { readonly out: "refuse"; readonly fault: Fault }
  | { readonly out: "go"; readonly next: S | null; readonly parts: readonly Part<S>[] };

/** One kind of actor: its transitions, its deadline, its view and its SQL table. */
export type Behavior<S extends ActorState = ActorState, M extends Message = Message> = {
  readonly kind: string;
  /** The SQL table of the actors of this kind, and its key column. */
  readonly table: string;
  readonly key: string;
  /** A SQL view of the table with joined columns, which `step` may read. Writes to these columns have no effect. */
  readonly from?: string;
  /** Pure and total: no clock, no randomness, no I/O. */
  readonly step: (state: S | null, message: M, now: Date) => Out<S>;
  /** The time at which the actor needs a `tick`, or null. Pure. */
  readonly deadline: (state: S) => Date | null;
  /** The reply to the sender of a message. */
  readonly view: (state: S) => Json;
  /**
   * The 409 for each constraint of this kind's tables, by constraint name. <column> in the text is replaced by the
   * value of the refused row.
   */
  readonly constraints?: Readonly<Record<string, Fault>>;
};

/** A behavior without its types, as the engine's registry stores it. */
// deno-lint-ignore no-explicit-any -- a registry holds behaviors of different states
export type AnyBehavior = Behavior<any, any>;

/** Returns the text form of a ref, which serves as map key and lock name. */
export function refKey(ref: ActorRef): string {
  return `${ref.kind}:${ref.id}`;
}
