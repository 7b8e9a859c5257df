// The vocabulary of a cell: go, refuse, and the parts a decision can carry.
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

/** The next state, null to remove the row, and what else commits with it. */
export function go<S>(next: S | null, ...parts: readonly Part<S>[]): Out<S> {
  return { out: "go", next, parts };
}

/** A refusal. It is stored under the message id like a success, so a retry hears the same. */
export function refuse<S>(fault: Fault): Out<S> {
  return { out: "refuse", fault };
}

/** An audit entry in the same commit. `payload` must hold no secret. */
export function audit(action: string, resource: string | null, payload: Json = {}): AuditNote {
  return { part: "audit", action, resource, payload };
}

/** Inserts a child row. A column that is not given takes its default. */
export function insert(table: string, row: Json): ChildWrite {
  return { part: "child", op: "insert", table, row };
}

/** Inserts a child row, or writes the given columns of the one with the same key columns; others keep their values. */
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

/** Steps another actor in the same commit. */
export function withActor(to: ActorRef, message: Message): With {
  return { part: "with", to, message };
}

/**
 * Refuses unless the SQL function `guard_<name>(args)` answers true inside the commit. When it answers with a text instead,
 * that takes the place of <WHAT> in the message: the name of what stands in the way.
 * @param refusal the fault, or the text of a 409
 */
export function guard<N extends GuardName>(name: N, args: GuardArgs<N>, refusal: string | Fault): Condition {
  return { part: "guard", name, args, fault: typeof refusal === "string" ? conflict(refusal) : refusal };
}

/** Takes from a budget row (a window's count, a quota, room on a node), or refuses. */
export function take(budget: string, amount: number, fault: Fault): Condition {
  return { part: "take", budget, amount, fault };
}

/** Gives back to a budget row. */
export function give(budget: string, amount: number): Condition {
  return { part: "give", budget, amount };
}

/**
 * Allocates the lowest free value of a pool, or refuses. `token` stands for the value in this unit's rows and reply;
 * make it unguessable (derive it from the message id), because it is replaced wherever it occurs as a whole string.
 * `within` narrows what is taken to a range of the pool's offsets.
 */
export function allocate(pool: string, token: string, fault: Fault, within?: Offsets): Condition {
  return { part: "allocate", pool, token, fault, ...within };
}

/** Returns a value to its pool. */
export function release(pool: string, value: string): Condition {
  return { part: "release", pool, value };
}

/** Runs the SQL function `effect_<name>(args)` inside the commit, once the conditions of this choice hold. */
export function effect<N extends EffectName>(name: N, args: EffectArgs<N>): Condition {
  return { part: "effect", name, args };
}

/** Holds a named lock for the commit: `cn:<id>`, `mac:<m>`, `pool:<id>`, `project:<id>`, `vpc:<id>`. */
export function lock(key: string, shared = false): Condition {
  return { part: "lock", key, shared };
}

/** What to do when a condition of the first choice does not hold. */
export function otherwise<S>(out: Out<S>): Otherwise<S> {
  return { part: "otherwise", out };
}

/** What the sender hears instead of the view. */
export function reply(value: Json): Reply {
  return { part: "reply", reply: value };
}
