// Limits the doctor of a process to one run at a time for each scope. The reason is that a run uses up to two database
// connections for up to a minute. Callers that arrive during a run get the report of that run.

export function oneAtATime<K, T>(work: (what: K) => Promise<T>): (what: K) => Promise<T> {
  const running = new Map<K, Promise<T>>();
  return (what) => {
    const run = running.get(what) ?? work(what).finally(() => running.delete(what));
    running.set(what, run);
    return run;
  };
}
