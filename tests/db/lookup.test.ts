// Tests look-ups. Concurrent look-ups share a query.
import { expect, test, vi } from "vitest";
import { createLookup } from "../../src/db/lookup.ts";

/** A look-up whose queries the test answers. The row of a key is the key in upper case; the key "none" has no row. */
function heldLookup() {
  const queries: { readonly keys: readonly string[]; answer(): void; fail(error: Error): void }[] = [];
  const find = createLookup<string>((keys) => {
    const { promise, resolve, reject } = Promise.withResolvers<ReadonlyMap<string, string>>();
    queries.push({
      keys,
      answer: () => resolve(new Map(keys.filter((key) => key !== "none").map((key) => [key, key.toUpperCase()]))),
      fail: reject,
    });
    return promise;
  });
  const keysOfQuery = (n: number) => expect.poll(() => queries[n]?.keys, { interval: 1 });
  return { find, queries, keysOfQuery };
}

/** Waits for three turns of the event loop. */
async function someTicks(): Promise<void> {
  for (let tick = 0; tick < 3; tick++) await new Promise((next) => setImmediate(next));
}

test("the callers of one turn of the event loop share a query, and each gets its own row", async () => {
  const { find, queries, keysOfQuery } = heldLookup();
  const found = Promise.all(["a", "b", "a", "none"].map(find));
  await keysOfQuery(0).toEqual(["a", "b", "none"]);
  queries[0]!.answer();
  expect(await found).toEqual(["A", "B", "A", null]);
  expect(queries.length).toBe(1);
});

test("a caller never gets the result of a query that began before the call", async () => {
  const { find, queries, keysOfQuery } = heldLookup();
  const first = find("a");
  await keysOfQuery(0).toEqual(["a"]);
  const second = find("a");
  let isFound = false;
  void second.then(() => isFound = true);
  queries[0]!.answer();
  await first;
  await keysOfQuery(1).toEqual(["a"]);
  expect(isFound).toBe(false);
  queries[1]!.answer();
  expect(await second).toBe("A");
});

test("callers that arrive while a query runs share one query, which begins when the running query ends", async () => {
  // Stops the timers, because the next query also begins when the time limit of 10 ms passes.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const { find, queries } = heldLookup();
    void find("a");
    await someTicks();
    void find("b");
    await someTicks();
    void find("c");
    await someTicks();
    expect(queries.map(({ keys }) => keys)).toEqual([["a"]]);
    queries[0]!.answer();
    await someTicks();
    expect(queries.map(({ keys }) => keys)).toEqual([["a"], ["b", "c"]]);
  } finally {
    vi.useRealTimers();
  }
});

test("a query has at most 128 keys, and further keys do not wait for the answer to this query", async () => {
  const { find, queries, keysOfQuery } = heldLookup();
  const keys = Array.from({ length: 129 }, (_, index) => `key-${index}`);
  const found = keys.map(find);
  await keysOfQuery(0).toEqual(keys.slice(0, 128));
  await keysOfQuery(1).toEqual(keys.slice(128));
  queries[1]!.answer();
  expect(await found[128]).toBe("KEY-128");
  queries[0]!.answer();
  expect(await Promise.all(found)).toEqual(keys.map((key) => key.toUpperCase()));
});

test("after 10 ms, the next query begins although a slow query still runs", async () => {
  const { find, queries, keysOfQuery } = heldLookup();
  const first = find("a");
  await keysOfQuery(0).toEqual(["a"]);
  const second = find("b");
  await keysOfQuery(1).toEqual(["b"]);
  queries[1]!.answer();
  expect(await second).toBe("B");
  queries[0]!.answer();
  expect(await first).toBe("A");
});

test("a failed query rejects only the callers whose keys it reads", async () => {
  const { find, queries, keysOfQuery } = heldLookup();
  const first = find("a");
  const failed = expect(first).rejects.toThrow("lost");
  await keysOfQuery(0).toEqual(["a"]);
  const second = find("b");
  queries[0]!.fail(new Error("lost"));
  await failed;
  await keysOfQuery(1).toEqual(["b"]);
  queries[1]!.answer();
  expect(await second).toBe("B");
});
