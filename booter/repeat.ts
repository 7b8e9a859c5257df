// Work that is done again and again, never twice at once. The first time at once.
/** What is under way is not waited for: it may wait for an answer that does not come. */
export type Repeated = { stop(): void };

/** @param pause_ms the time to the next one, by how long this one took. What the work throws is dropped. */
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
