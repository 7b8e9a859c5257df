// The store port: the engine's only access to the database. src/db/store.ts implements it on PostgreSQL, and
// tests/support/memory-store.ts in memory. One contract suite tests both.
import type { CallCondition } from "./conditions.ts";
import type { ActorRef, Fault, Json, Message } from "./types.ts";

/** A loaded row. When there is no row, the state is null and `version` is 0. */
export type LoadedActor = {
  readonly state: Readonly<Record<string, Json>> | null;
  /** Created with the row. A later row with the same id has another incarnation. */
  readonly incarnation: string;
  readonly version: number;
};

/** An actor without a row. */
export const ABSENT: LoadedActor = { state: null, incarnation: "", version: 0 };

/**
 * The loaded actors by refKey, and the time of the database's clock at the load. This time is `berth_now()`: the
 * database's time plus the offset of the dev environment's clock.
 */
export type Loaded = { readonly now: Date; readonly actors: ReadonlyMap<string, LoadedActor> };

/** A possible outcome of a unit: its conditions, and the writes that apply if all conditions hold. */
export type Choice = {
  readonly conditions: readonly CallCondition[];
  readonly rows: readonly RowWrite[];
  readonly children: readonly ChildRow[];
  readonly transitions: readonly TransitionRow[];
  readonly replies: readonly ReplyRow[];
  readonly outbox: readonly OutboxRow[];
};

/** An actor of a unit, with the version on which the unit's decisions are based. */
export type UnitActor = {
  readonly ref: ActorRef;
  readonly incarnation: string;
  readonly version: number;
  /**
   * Set if an earlier unit of the same call writes this version: the id of the message that writes it. Absent for a
   * loaded version. The commit checks that this message wrote the version: if the earlier unit is not written, another
   * writer can create a version with the same number.
   */
  readonly written_by?: string;
  /**
   * The id was created for this unit, so the commit does not look for a row with this id. If such a row exists, the
   * insert fails.
   */
  readonly is_new?: true;
};

/**
 * A part of a commit that is written as a whole or not at all. If no actor of the unit has changed since its load, the
 * commit applies the first choice whose conditions hold. If no choice holds, the commit stores the refusal of the last
 * choice. Earlier units of the call that could affect the conditions are written before the check (waves.ts).
 */
export type Unit = {
  readonly actors: readonly UnitActor[];
  /** Message ids that an earlier attempt may have committed. */
  readonly stale_ids: readonly string[];
  readonly choices: readonly Choice[];
  /**
   * The message has more alternatives than the unit lists. If no listed choice holds, the result is a conflict, and the
   * commit stores no refusal.
   */
  readonly partial?: true;
  /** The decision of a tell's receiver is in the unit (see Tell). */
  readonly joined?: true;
};

/**
 * A write to an actor's row. `row` has all columns for an insert, the changed columns for an update, and no columns for
 * a delete.
 */
export type RowWrite = {
  readonly op: "insert" | "update" | "delete";
  readonly ref: ActorRef;
  readonly row: Readonly<Record<string, Json>>;
  /**
   * The whole row after an update. If a constraint refuses the update, the columns of this row fill the placeholders in
   * the error message. The commit call does not contain this row.
   */
  readonly whole?: Readonly<Record<string, Json>>;
};

/** A write to a child row: a row that belongs to an actor but is not an actor itself. */
export type ChildRow = {
  readonly op: "insert" | "upsert" | "delete";
  readonly table: string;
  /** The columns by which an upsert or delete finds its rows. */
  readonly key: readonly string[];
  readonly row: Readonly<Record<string, Json>>;
};

/** The log row of one transition. `seq` is the resulting version, `audit` the entry for the audit chain. */
export type TransitionRow = {
  readonly actor_kind: string;
  readonly actor_id: string;
  readonly incarnation: string;
  readonly seq: number;
  readonly event: string;
  readonly from_state: string;
  readonly to_state: string;
  readonly msg_id: string;
  readonly at: Date;
  readonly audit: Json | null;
};

/** The answer to a message. It is stored, so that a retry gets the same answer. */
export type StoredReply = { readonly ok: Json } | { readonly fault: Fault };
/** A reply and the id of the message that it answers. */
export type ReplyRow = { readonly msg_id: string; readonly reply: StoredReply };

/** A tell that waits for delivery. `id` becomes the id of its message. */
export type OutboxRow = { readonly id: string; readonly to: ActorRef; readonly message: Message };

/** The result of one unit. */
export type UnitResult =
  /**
   * Written. `choice` is -1 if no choice held and only the refusal was written. `replies` is null if the replies are
   * exactly as the choice has them.
   */
  | { readonly status: "done"; readonly choice: number; readonly replies: readonly ReplyRow[] | null }
  /** Another writer was first. The messages must be applied again after a new load. */
  | { readonly status: "conflict" }
  /** Some of the unit's messages had already committed. The unit wrote nothing. */
  | { readonly status: "known"; readonly replies: readonly ReplyRow[] };

/** A commit call that failed as a whole. */
export class CommitError extends Error {
  constructor(
    /**
     * - constraint: a unit broke a constraint or has a value that the database refuses; nothing was written.
     * - busy: nothing was written; a retry may succeed.
     * - unknown: the call may have been written.
     */
    readonly reason: "constraint" | "busy" | "unknown",
    readonly constraint: string | null,
    options?: ErrorOptions & { readonly silent?: boolean },
  ) {
    super(`commit ${reason}${constraint === null ? "" : ` (${constraint})`}`, options);
    this.name = "CommitError";
    this.silent = options?.silent ?? false;
  }

  /** True when the database did not answer within the time limit. Then the caller must retry, not the engine. */
  readonly silent: boolean;
}

/** Loads actors, and commits the units that were computed from them. */
export interface StoreSession {
  load(refs: readonly ActorRef[]): Promise<Loaded>;
  /** Returns the results in the order of the units. Throws CommitError. */
  commit(units: readonly Unit[]): Promise<readonly UnitResult[]>;
}

/**
 * The store port. Every call may reject when the connection to the database is lost. `CommitError.reason` shows whether
 * the call wrote nothing or may have written.
 */
export interface Store extends StoreSession {
  /**
   * Holds the actor's advisory lock and the lock of its row during `run`, so that writers of a busy actor cannot
   * starve.
   */
  exclusive<T>(ref: ActorRef, run: (session: StoreSession) => Promise<T>): Promise<T>;
  /** Lists the actors of this kind whose wake_at has passed, the earliest wake_at first. */
  due(kind: string, limit: number): Promise<readonly ActorRef[]>;
  /** Lists undelivered tells, oldest first. */
  outbox(limit: number): Promise<readonly OutboxRow[]>;
  /** Deletes delivered tells. */
  delivered(ids: readonly string[]): Promise<void>;
}
