// Runs pieces of work at the same time, up to a maximum number.

/** Starts the work on each item in order, at most `max` at the same time. Resolves when all work has ended. */
export async function severalAtATime<T>(
  max: number,
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const waiting = items.values();
  const worker = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: max }, worker));
}
