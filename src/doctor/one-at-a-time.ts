// Runs the doctor's checks at most once at a time in each process, because a run uses a database connection for up to a
// minute. Callers that arrive during a run get the report of that run.

export function oneAtATime<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  return () => {
    running ??= work().finally(() => {
      running = null;
    });
    return running;
  };
}
