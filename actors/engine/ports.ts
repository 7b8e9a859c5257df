// How the world enters the engine. Production ports are made in src/wiring.ts; the simulator makes its own from a seed,
// so that the same engine runs on virtual time.

/** All that the engine may ask of the world beside the store. */
export type Ports = {
  /** A new UUIDv7. */
  readonly newId: () => string;
  /** Uniform in [0, 1): jitter only, never an identity. */
  readonly random: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Runs `task` once the messages that arrive together have been queued. */
  readonly soon: (task: () => void) => void;
  /** A named point where a trial may kill the process or fail the call; a no-op in production. */
  readonly fault: (point: FaultPoint) => Promise<void> | void;
  /** A failure nobody waits for. */
  readonly report: (message: string, error: unknown) => void;
};

/** reliability.md R-01: the boundaries of a commit. */
export const FAULT_POINTS = ["after_load", "before_commit", "after_commit", "after_reply"] as const;
export type FaultPoint = (typeof FAULT_POINTS)[number];
