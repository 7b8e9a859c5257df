// Repeated work. It starts at once and never runs twice at the same time.
/** `stop` does not wait for work in progress, which may wait for an answer that never comes. */
export type Repeated = { stop(): void };

/** @param pause_ms the pause before the next run, by the time that this one took. Errors of the work are dropped. */
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
