// The store port: the only way the engine touches the database. PostgreSQL implements it in src/db/store.ts, the
// simulator in memory-store.ts; one contract suite tries both.
import type { CallCondition } from "./conditions.ts";
import type { ActorRef, Fault, Json, Message } from "./types.ts";

/** A row as loaded: null state when there is none. `version` 0 means absent. */
export type LoadedActor = {
  readonly state: Readonly<Record<string, Json>> | null;
  readonly incarnation: string;
  readonly version: number;
};

/** Actors by refKey, and the database's clock (with the laboratory's offset) at the load. */
export type Loaded = { readonly now: Date; readonly actors: ReadonlyMap<string, LoadedActor> };

/** One outcome that a unit may have: what its conditions ask for and what is written when they hold. */
export type Choice = {
  readonly conditions: readonly CallCondition[];
  readonly rows: readonly RowWrite[];
  readonly children: readonly ChildRow[];
  readonly transitions: readonly TransitionRow[];
  readonly replies: readonly ReplyRow[];
  readonly outbox: readonly OutboxRow[];
};

/** What must hold together: the actors at the version they were loaded at, and the first choice whose conditions hold. */
export type Unit = {
  readonly actors: readonly { readonly ref: ActorRef; readonly incarnation: string; readonly version: number }[];
  /** Ids that may have committed before. */
  readonly stale_ids: readonly string[];
  readonly choices: readonly Choice[];
};

/** `row` holds every column on insert, the changed ones on update, nothing on delete. */
export type RowWrite = {
  readonly op: "insert" | "update" | "delete";
  readonly ref: ActorRef;
  readonly row: Readonly<Record<string, Json>>;
};

/** A write to a row that belongs to an actor and is none itself. */
export type ChildRow = {
  readonly op: "insert" | "upsert" | "delete";
  readonly table: string;
  /** The columns that identify the rows of an upsert or delete. */
  readonly key: readonly string[];
  readonly row: Readonly<Record<string, Json>>;
};

/** What the log says of one transition: `seq` is the version that it led to, `audit` the entry for the chain. */
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

/** What the message's sender hears, stored so that a retry hears the same. */
export type StoredReply = { readonly ok: Json } | { readonly fault: Fault };
/** A reply under the id of the message that it answers. */
export type ReplyRow = { readonly msg_id: string; readonly reply: StoredReply };

/** A tell that waits for its delivery; `id` becomes the id of its message. */
export type OutboxRow = { readonly id: string; readonly to: ActorRef; readonly message: Message };

/** The result of one unit. */
export type UnitResult =
  /** Written. `replies` are given back when conditions had a say in them. */
  | { readonly status: "done"; readonly choice: number; readonly replies: readonly ReplyRow[] | null }
  /** Another writer was there first: load and step again. */
  | { readonly status: "conflict" }
  /** Some of its messages had committed before; nothing of the unit was written. */
  | { readonly status: "known"; readonly replies: readonly ReplyRow[] };

/** Why a commit call as a whole did not answer. */
export class CommitError extends Error {
  constructor(
    /** constraint: nothing was written, a named rule is broken. busy: nothing was written, try again. unknown: it may have been written. */
    readonly reason: "constraint" | "busy" | "unknown",
    readonly constraint: string | null,
    options?: ErrorOptions & { readonly silent?: boolean },
  ) {
    super(`commit ${reason}${constraint === null ? "" : ` (${constraint})`}`, options);
    this.name = "CommitError";
    this.silent = options?.silent ?? false;
  }

  /** The database said nothing for as long as anybody may wait: only the caller tries again. */
  readonly silent: boolean;
}

/** What one load and its commit need. */
export interface StoreSession {
  load(refs: readonly ActorRef[]): Promise<Loaded>;
  /** Results in the order of the units. Throws CommitError. */
  commit(units: readonly Unit[]): Promise<readonly UnitResult[]>;
}

/** The whole port. Every call may reject when the database is lost; only CommitError says what became of a commit. */
export interface Store extends StoreSession {
  /** Holds the actor's advisory lock and its row for the whole of `run`, so that a hot actor's writer cannot starve. */
  exclusive<T>(ref: ActorRef, run: (session: StoreSession) => Promise<T>): Promise<T>;
  /** Actors of this kind whose wake_at has passed, oldest first. */
  due(kind: string, limit: number): Promise<readonly ActorRef[]>;
  /** Undelivered tells, oldest first. */
  outbox(limit: number): Promise<readonly OutboxRow[]>;
  /** Forgets delivered tells. */
  delivered(ids: readonly string[]): Promise<void>;
}
