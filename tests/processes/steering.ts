// Delays the two sides of a race so that neither always wins. The winner of a round is delayed longer in the next
// round. If the same side keeps winning, the added delay doubles each time. So each side wins some rounds on any
// machine, and most rounds are close.

export type Side = "first" | "second";

export type Steering = {
  /** Waits for this side's current delay. */
  hold(side: Side): Promise<void>;
  won(side: Side): void;
};

const STEP_MS = 1;

export function steering(): Steering {
  /** The first side's delay in milliseconds; negative if the second side is delayed instead. */
  let late_ms = 0;
  let step_ms = STEP_MS;
  let last: Side | null = null;
  return {
    hold: (side) => {
      const duration_ms = side === "first" ? late_ms : -late_ms;
      return new Promise((wake) => setTimeout(wake, Math.max(0, duration_ms)));
    },
    won(side) {
      step_ms = side === last ? step_ms * 2 : STEP_MS;
      last = side;
      late_ms += side === "first" ? step_ms : -step_ms;
    },
  };
}
