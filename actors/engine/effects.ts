// The functions that make the result of a cell of a transition table: go, refuse, and the parts of a decision.
import type { AuditAction } from "../../src/contract/audit-actions.ts";
import { conflict, type Fault } from "../../src/contract/fault.ts";
import type { Condition, EffectArgs, EffectName, GuardArgs, GuardName, Offsets } from "./conditions.ts";
import type {
  ActorRef,
  AuditNote,
  ChildWrite,
  Json,
  Message,
  Otherwise,
  Out,
  Part,
  Reply,
  Tell,
  With,
} from "./types.ts";

/** Moves to the next state, or removes the row when `next` is null. The parts are in the same commit. */
export function go<S>(next: S | null, ...parts: readonly Part<S>[]): Out<S> {
  return { out: "go", next, parts };
}

/** Refuses the message. The refusal is stored under the message id like a success, so a retry gets the same answer. */
export function refuse<S>(fault: Fault): Out<S> {
  return { out: "refuse", fault };
}

/** Writes an audit entry in the same commit. `payload` must not contain secrets. */
export function audit(action: AuditAction, resource: string | null, payload: Json = {}): AuditNote {
  return { part: "audit", action, resource, payload };
}

/** Inserts a child row. Omitted columns get their defaults. */
export function insert(table: string, row: Json): ChildWrite {
  return { part: "child", op: "insert", table, row };
}

/** Inserts a child row, or updates the given columns of the row with the same key columns. */
export function upsert(table: string, key: readonly string[], row: Json): ChildWrite {
  return { part: "child", op: "upsert", table, key, row };
}

/** Deletes the child rows whose columns equal `match`. */
export function remove(table: string, match: Json): ChildWrite {
  return { part: "child", op: "delete", table, match };
}

/** Sends a message to another actor after the commit: at least once, in any order. */
export function tell(to: ActorRef, message: Message): Tell {
  return { part: "tell", to, message };
}

/** Applies a message to another actor in the same commit. If that actor refuses, the whole unit is refused. */
export function withActor(to: ActorRef, message: Message): With {
  return { part: "with", to, message };
}

/**
 * Like withActor, for an actor whose id was created for this message. The engine does not load this actor, because it
 * should have no row yet. If a row exists, the insert fails, and the engine then loads the actor and tries again.
 */
export function withNewActor(to: ActorRef, message: Message): With {
  return { part: "with", to, message, isNew: true };
}

/**
 * Refuses unless the SQL function `guard_<name>(args)` returns true inside the commit. If the function returns a text
 * instead, the text replaces <WHAT> in the refusal.
 * @param refusal the fault, or the text of a 409
 */
export function guard<N extends GuardName>(name: N, args: GuardArgs<N>, refusal: string | Fault): Condition {
  return { part: "guard", name, args, fault: typeof refusal === "string" ? conflict(refusal) : refusal };
}

/** Subtracts from a budget row, for example `auto-approve`. Refuses if too little is left or the row has expired. */
export function take(budget: string, amount: number, fault: Fault): Condition {
  return { part: "take", budget, amount, fault };
}

/** Adds to a budget row. */
export function give(budget: string, amount: number): Condition {
  return { part: "give", budget, amount };
}

/**
 * Allocates the lowest free value of a pool, or refuses if no value is free. In this unit's rows, tells and reply, the
 * commit replaces each string that equals `token` with the value. So the token must be unguessable: derive it from the
 * message id. `within` limits the allocation to a range of the pool's offsets.
 */
export function allocate(pool: string, token: string, fault: Fault, within?: Offsets): Condition {
  return { part: "allocate", pool, token, fault, ...within };
}

/** Gives a value back to its pool. */
export function release(pool: string, value: string): Condition {
  return { part: "release", pool, value };
}

/** Runs the SQL function `effect_<name>(args)` inside the commit, after the conditions of this decision have passed. */
export function effect<N extends EffectName>(name: N, args: EffectArgs<N>): Condition {
  return { part: "effect", name, args };
}

/** Holds a named lock during the commit. The key is the name, for example `cn:<id>`, `mac:<m>` or `vpc:<id>`. */
export function lock(key: string, shared = false): Condition {
  return { part: "lock", key, shared };
}

/**
 * Holds a named lock during the commit. Use it if the lock protects only budgets, pools and counters. Several units of
 * one call can hold it in the same wave (waves.ts), because the call checks these units one after another. The
 * lock excludes all other calls.
 */
export function countedLock(key: string): Condition {
  return { part: "lock", key, shared: false, counted: true };
}

/** Adds an alternative decision. The commit applies the alternative if a condition of this decision does not hold. */
export function otherwise<S>(out: Out<S>): Otherwise<S> {
  return { part: "otherwise", out };
}

/** Replies with this value instead of the view. */
export function reply(value: Json): Reply {
  return { part: "reply", reply: value };
}
