// Runs the loop of one kind of background work: a pass and a pause, until the loop is stopped.

/**
 * `start` begins the loop. After each pass, the loop pauses for `every_ms` milliseconds. `stop` waits for the current
 * pass.
 */
export function createLoop(pass: () => Promise<void>, every_ms: number) {
  let stopped = false;
  let wake: (() => void) | null = null;
  let running: Promise<void> | null = null;

  async function loop(): Promise<void> {
    while (!stopped) {
      await pass();
      if (stopped) return;
      let timer: ReturnType<typeof setTimeout> | undefined;
      await new Promise<void>((resolve) => {
        wake = resolve;
        timer = setTimeout(resolve, every_ms);
      });
      clearTimeout(timer);
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
