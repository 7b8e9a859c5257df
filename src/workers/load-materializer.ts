// Summarizes the load of nodes and instances, and deletes old rows. Every process runs a pass in each interval. In each
// interval, the database lets only one process summarize the load.
import type { Ports } from "../../actors/engine/ports.ts";

export type LoadMaterializer = {
  /** Runs one pass. It summarizes nothing if a process has summarized the load within half of the interval. */
  pass(): Promise<void>;
  /** Runs a pass in each interval. The first pass runs after one interval. */
  start(): void;
  stop(): Promise<void>;
};

export type LoadOptions = {
  /**
   * Summarizes the load, unless a process has done this within half of the interval, and deletes old rows. Ends early
   * once `stopped` returns true.
   */
  readonly materialize: (interval_s: number, stopped: () => boolean) => Promise<unknown>;
  readonly ports: Pick<Ports, "report">;
  readonly interval_s: () => Promise<number>;
};

export function createLoadMaterializer({ materialize, ports, interval_s }: LoadOptions): LoadMaterializer {
  let stopped = false;
  let wake: (() => void) | null = null;
  let running: Promise<void> | null = null;

  async function pass(): Promise<void> {
    try {
      await materialize(await interval_s(), () => stopped);
    } catch (error) {
      ports.report("background work failed: load of nodes", error);
    }
  }

  async function rest(duration_s: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    // stop() may have been called while the interval was read from the database.
    if (stopped) return;
    await new Promise<void>((resolve) => {
      wake = resolve;
      timer = setTimeout(resolve, duration_s * 1_000);
    });
    clearTimeout(timer);
  }

  async function loop(): Promise<void> {
    while (!stopped) {
      await rest(await interval_s().catch(() => RETRY_S));
      if (!stopped) await pass();
    }
  }

  return {
    pass,
    start: () => void (running ??= loop()),
    stop: async () => {
      stopped = true;
      wake?.();
      await running;
    },
  };
}

/** The pause between two passes while the interval cannot be read from the database. */
const RETRY_S = 5;
