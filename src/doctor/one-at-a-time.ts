// Runs one examination at a time in each process, because an examination uses a connection for a long time. Callers
// that arrive during an examination get its report.

export function oneAtATime<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  return () => {
    running ??= work().finally(() => {
      running = null;
    });
    return running;
  };
}
