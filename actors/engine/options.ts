// The limits and the parts of an engine.
import type { MailboxLimits } from "./mailbox.ts";
import type { Ports } from "./ports.ts";
import type { OutboxRow, RowWrite, Store } from "./store.ts";
import type { ActorRef, AnyBehavior } from "./types.ts";

/** The limits of one process: queues, batches, retries. */
export type EngineLimits = MailboxLimits & {
  /** Actors in one commit call. */
  readonly units_max: number;
  /** Messages of one actor in one commit call. */
  readonly messages_max: number;
  /** Units of one actor in one commit call. */
  readonly chain_max: number;
  /**
   * Waves in one commit call. The limit bounds the time for which a call holds its locks: a wave takes about a
   * millisecond.
   */
  readonly waves_max: number;
  readonly calls_in_flight_max: number;
  /** Lost races before the actor's lock is taken. */
  readonly races_max: number;
  /** Failed calls before the sender gets the error. */
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
  /** Null if an allocation may have changed the tells. Then only the outbox has their final values. */
  readonly tells: readonly OutboxRow[] | null;
  /** The actors whose deadline had passed when the unit was loaded. */
  readonly due: readonly ActorRef[];
};

/** The parts of an engine. It calls `onCommit` for each unit once the unit is durable. */
export type EngineOptions = {
  readonly store: Store;
  readonly behaviors: readonly AnyBehavior[];
  readonly ports: Ports;
  readonly limits?: Partial<EngineLimits>;
  readonly onCommit?: (committed: Committed) => void;
};
