/**
 * Runs `work` for every item, at most `width` at a time. Returns results in the order of the items. After a failure no
 * further item starts. The failure is thrown after the running items have ended, so that no request of a command
 * arrives after the command has ended.
 */
export async function inParallel<T, R>(
  width: number,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length);
  const left = items.entries();
  const failures: unknown[] = [];
  // The workers share one iterator: each takes the next item.
  const worker = async () => {
    for (const [index, item] of left) {
      try {
        results[index] = await work(item);
      } catch (error) {
        failures.push(error);
      }
      if (failures.length > 0) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
  if (failures.length > 0) throw failures[0];
  return results;
}
