/**
 * A handle of repeated work. `stop` ends the repetition. `stop` does not wait for a run in progress, because that run
 * may never end.
 */
export type Repeated = { stop(): void };

/**
 * Runs `work` at once and then repeatedly, never twice at the same time. Ignores errors of the work.
 * @param pause_ms returns the pause before the next run, given the duration of the last run
 */
export function every(pause_ms: (took_ms: number) => number, work: () => Promise<void>): Repeated {
  let stopped = false;
  let wake = () => {};
  const loop = async () => {
    while (!stopped) {
      const start = performance.now();
      await work().catch(() => {});
      if (stopped) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pause_ms(performance.now() - start));
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  void loop();
  return {
    stop() {
      stopped = true;
      wake();
    },
  };
}
