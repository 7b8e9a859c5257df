// Two sides that race, started so that neither always wins: whichever won is held back longer the next time, and twice as
// long again while it goes on winning. So both win in some round on any machine, and most rounds are close.

export type Side = "first" | "second";

export type Steering = {
  /** Waits as long as this side is held back now. */
  hold(side: Side): Promise<void>;
  won(side: Side): void;
};

const STEP_MS = 1;

export function steering(): Steering {
  /** How much later than the second the first begins; negative when it is the other way round. */
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
