// The limits and the parts of an engine.
import type { MailboxLimits } from "./mailbox.ts";
import type { Ports } from "./ports.ts";
import type { OutboxRow, RowWrite, Store } from "./store.ts";
import type { ActorRef, AnyBehavior } from "./types.ts";

/** The limits of one process: queues, batches, retries. */
export type EngineLimits = MailboxLimits & {
  /** The maximum number of mailboxes that a batch claims. */
  readonly units_max: number;
  /** The maximum number of messages of one actor in one commit call. */
  readonly messages_max: number;
  /** The maximum number of units of one actor in one commit call. */
  readonly chain_max: number;
  /**
   * The maximum number of waves in one commit call. A wave takes about a millisecond, so this number limits the time
   * for which a call holds its locks.
   */
  readonly waves_max: number;
  readonly calls_in_flight_max: number;
  /** The number of lost races and failed calls after which the engine takes the actor's lock. */
  readonly races_max: number;
  /**
   * The number of lost races and failed calls of one message after which a failed call is not repeated. The sender then
   * gets the error.
   */
  readonly failures_max: number;
};

/** The default limits. */
export const ENGINE_LIMITS: EngineLimits = {
  per_actor_max: 2_000,
  total_max: 20_000,
  units_max: 512,
  messages_max: 256,
  chain_max: 32,
  waves_max: 32,
  calls_in_flight_max: 2,
  races_max: 3,
  failures_max: 8,
};

/** The writes of a durable unit. */
export type Committed = {
  readonly refs: readonly ActorRef[];
  /** These rows still have tokens in place of allocated values. */
  readonly rows: readonly RowWrite[];
  /** Null if an allocation may have changed the tells. In this case only the outbox table has their final content. */
  readonly tells: readonly OutboxRow[] | null;
  /** The actors that need a tick at once: the unit wrote a `wake_at` that is not later than the time of the load. */
  readonly due: readonly ActorRef[];
};

/** The parts of an engine. The engine calls `onCommit` for each unit when the unit is durable. */
export type EngineOptions = {
  readonly store: Store;
  readonly behaviors: readonly AnyBehavior[];
  readonly ports: Ports;
  readonly limits?: Partial<EngineLimits>;
  readonly onCommit?: (committed: Committed) => void;
};
