// One visit at a time in each process: a visit takes a connection for long. Who asks meanwhile hears the same report.

export function oneAtATime<T>(visit: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  return () => {
    running ??= visit().finally(() => {
      running = null;
    });
    return running;
  };
}
