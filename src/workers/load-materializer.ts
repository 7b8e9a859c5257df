// Summaries of the load of nodes, for placement: every process asks, and the database lets one of them do it (document 4,
// 9.2, Load materialiser). What is summarised are the nodes' own capacity reports.
import type { Ports } from "../../actors/engine/ports.ts";

export type LoadMaterializer = {
  /** One pass, unless there was one lately. */
  pass(): Promise<void>;
  /** A pass each interval, the first after one. */
  start(): void;
  stop(): Promise<void>;
};

export type LoadOptions = {
  /** Summarises what was reported since the last time, unless somebody did within the interval. */
  readonly materialize: (interval_s: number) => Promise<unknown>;
  readonly ports: Pick<Ports, "report">;
  readonly interval_s: () => Promise<number>;
};

export function createLoadMaterializer({ materialize, ports, interval_s }: LoadOptions): LoadMaterializer {
  let stopped = false;
  let wake: (() => void) | null = null;
  let running: Promise<void> | null = null;

  async function pass(): Promise<void> {
    try {
      await materialize(await interval_s());
    } catch (error) {
      ports.report("background work failed: load of nodes", error);
    }
  }

  async function rest(duration_s: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    // It may have been stopped while the database was asked how long.
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

/** While the database does not say how long. */
const RETRY_S = 5;
