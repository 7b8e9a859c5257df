// The ports of the engine: time, randomness and reports. src/wiring.ts creates the production ports. The simulator
// creates its own ports from a seed, so the same engine runs on virtual time.

/** The services that the engine uses, except the database: its port is in store.ts. */
export type Ports = {
  /** A new UUIDv7. */
  readonly newId: () => string;
  /** Uniform in [0, 1). Use it for jitter only, never to generate an id. */
  readonly random: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Runs `task` after the messages that arrive at the same moment are queued, so that one batch takes all of them. */
  readonly soon: (task: () => void) => void;
  /** A named point at which a stress test may kill the process or fail the call. Does nothing in production. */
  readonly fault: (point: FaultPoint) => Promise<void> | void;
  /** Reports a failure that no caller waits for. */
  readonly report: (message: string, error: unknown) => void;
};

/** The points around a commit at which a stress test may inject a fault (docs/reliability.md, R-01). */
export const FAULT_POINTS = ["after_load", "before_commit", "after_commit", "after_reply"] as const;
export type FaultPoint = (typeof FAULT_POINTS)[number];
