/** Runs `work` for every item, at most `width` at a time. Returns results in the order of the items. */
export async function inParallel<T, R>(
  width: number,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length);
  const left = items.entries();
  // The workers share one iterator: each takes the next item.
  const worker = async () => {
    for (const [index, item] of left) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
  return results;
}
