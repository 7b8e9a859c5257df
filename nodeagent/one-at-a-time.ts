// Runs pieces of work on the same object one after another.

export type OneAtATime = <T>(id: string, work: () => Promise<T>) => Promise<T>;

/** Returns a function that starts work when the earlier work with the same id has succeeded or failed. */
export function createOneAtATime(): OneAtATime {
  const last = new Map<string, Promise<unknown>>();
  return (id, work) => {
    const done = (last.get(id) ?? Promise.resolve()).catch(() => {}).then(work);
    last.set(id, done);
    done.catch(() => {}).finally(() => last.get(id) === done && last.delete(id));
    return done;
  };
}
